import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { extendChain } from '../lib/audit/trail/append-plan.ts'
import { createDigester } from '../lib/audit/trail/digest.ts'
import { newHead } from '../lib/audit/trail/head.ts'
import type { HeadStore } from '../lib/audit/trail/ports.ts'
import { createTrail } from '../lib/audit/trail/trail.ts'
import { systemClock } from '../lib/core/clock.ts'
import { createFileSigner } from '../lib/stores/file-signer.ts'
import { createTrailFolder } from '../lib/stores/trail-folder.ts'
import { answering, ask } from './processes.ts'

const entryBytes = 20_000
const dir = 'trail'

/** Writes a trail of so many entries, and has it verified by a process that does nothing else. */
answering(async ({ entries }: { entries: number }): Promise<unknown> => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-trail-'))
  try {
    await writeTrail(folder, entries)
    return await ask('verifier.ts', { folder: join(folder, dir) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

async function writeTrail(folder: string, entries: number): Promise<void> {
  const store = createTrailFolder(join(folder, dir))
  const state = newHead()
  for (let revision = 1; revision <= entries; revision++) {
    const { writes, head } = extendChain('entries', state.heads.entries, [entryOf(revision)])
    for (const { key, bytes } of writes) await store.put(key, bytes)
    state.heads.entries = head
  }
  const head = headOf(state)
  const work = { ...store, remove: async () => {} }
  const trail = createTrail({ store, work, head, clock: systemClock, random: Math.random })
  const signer = createFileSigner(join(folder, 'key.pem'))
  const digester = createDigester({ trail, signer, clock: systemClock, everyMs: 0, promisedMs: null })
  await digester.write(new AbortController().signal)
}

function headOf(state: ReturnType<typeof newHead>): HeadStore {
  let current = { version: 1, state }
  return {
    read: async () => current,
    write: async (next, version) => {
      current = { version: version + 1, state: next }
      return true
    },
  }
}

/** A revision of about 20 KB. */
function entryOf(revision: number) {
  return {
    revision,
    recordedAt: '2026-01-05T02:00:00.000Z',
    redactionKey: '0123456789abcdef',
    user: { id: `u_${revision % 7}`, email: `user${revision % 7}@example.com` },
    settings: {
      sessionRetentionDays: revision,
      commandAllowlist: Array.from({ length: entryBytes / 40 }, (_, at) => `command ${at} --of ${revision} --and more`),
    },
  }
}
