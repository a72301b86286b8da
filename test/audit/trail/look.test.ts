import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { lookAtTrail } from '../../../lib/audit/trail/look.ts'
import { packedBytesInHead } from '../../../lib/audit/trail/pending-append.ts'
import { createTrail } from '../../../lib/audit/trail/trail.ts'
import { auditParts, revision, revisions, scan, seen, signal } from '../memory.ts'

/** A trail whose writer died before it stored an entry that is too large for the head. */
async function afterDeath() {
  const parts = auditParts()
  await parts.recorder.record(revisions(1, 2), scan, signal)
  const doomed = auditParts({
    ...parts,
    store: { ...parts.store, put: async () => Promise.reject(new Error('died')) },
  })
  const large = seen(revision(3, { note: randomBytes(packedBytesInHead).toString('hex') }))
  await expect(doomed.recorder.record([large], scan, signal)).rejects.toThrow('died')
  return parts
}

describe('a look at a trail whose writer died', () => {
  it('shows the entry that waits in the lake bucket, as the next writer will store it', async () => {
    const parts = await afterDeath()
    const look = lookAtTrail(parts)
    const heads = await look.heads()
    expect(heads.entries.sequence).toBe(3)
    const seenFirst = await look.read('entries', 3)
    const listed = await look.store.list('audit/')
    expect(parts.store.objects.size).toBe(2)
    await createTrail({ ...parts, random: Math.random }).recoverHead(signal)
    expect(await parts.store.list('audit/')).toEqual(listed)
    const written = await parts.store.get(listed.at(-1) ?? '')
    expect(Buffer.compare(written ?? Buffer.of(), seenFirst ?? Buffer.of(0))).toBe(0)
    expect(await lookAtTrail(parts).heads()).toEqual(heads)
  })

  it('says what is wrong when that entry is gone', async () => {
    const parts = await afterDeath()
    const staged = await parts.work.list('index/audit/staged/')
    await parts.work.remove(staged)
    await expect(lookAtTrail(parts).heads()).rejects.toMatchObject({ code: 'damaged_state' })
  })
})
