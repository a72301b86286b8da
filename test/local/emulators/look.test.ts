import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { composeInspect } from '../../../lib/compose/inspect.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { type Emulators, startEmulators } from '../../../lib/local/emulators/emulators.ts'
import { writeAddress } from '../../../lib/local/emulators/endpoint.ts'
import { lockFolder } from '../../../lib/local/emulators/lock.ts'
import { lookIntoFolder } from '../../../lib/local/emulators/look.ts'
import { cliHere, temporaryFolder } from '../../cli/cli.ts'

const temporary = temporaryFolder()
const dir = join(temporary.path, 'state')
afterAll(temporary.remove)

/** Something in each store, by way of these emulators. */
function open({ environment, credentials }: Emulators) {
  const root = composeInspect(environment, { log: silentLog, metrics: noMetrics, credentials })
  const claim = { owner: 'worker', now: 0, expiresAt: 60_000 }
  return {
    root,
    write: async () => {
      await root.objects.put('changes/a', Buffer.from('rows'))
      await root.checkpoints.acquire('sessions', claim)
    },
    read: async () => [
      String(Buffer.from((await root.objects.get('changes/a')) ?? [])),
      (await root.checkpoints.read('sessions'))?.fence,
    ],
  }
}
const written = ['rows', 1]

function treeOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .sort()
}

beforeEach(async () => {
  rmSync(dir, { recursive: true, force: true })
  const emulators = await startEmulators({ dir })
  const { root, write } = open(emulators)
  await write()
  root.close()
  await emulators.close()
})

describe('a look into a folder', () => {
  it('shows what a process that works in it has at that moment', async () => {
    const working = await startEmulators({ dir })
    const looking = await lookIntoFolder({ dir })
    expect(looking.endpointUrl).toBe(working.endpointUrl)
    const { root, read } = open(looking)
    expect(await read()).toEqual(written)
    root.close()
    await looking.close()
    for (const command of [['status'], ['query', 'select count(*) as n from sessions']]) {
      expect(await cliHere([...command, '--local', dir])).toMatchObject({ code: 0 })
    }
    await working.close()
  })

  it('changes nothing in it, and several may look while another process takes it', async () => {
    const before = treeOf(dir)
    const looks = [await lookIntoFolder({ dir }), await lookIntoFolder({ dir })]
    expect(treeOf(dir)).toEqual(before)
    const working = await startEmulators({ dir })
    for (const look of looks) {
      const { root, read } = open(look)
      expect(await read()).toEqual(written)
      root.close()
      await look.close()
    }
    const { root, read } = open(working)
    expect(await read()).toEqual(written)
    root.close()
    await working.close()
  })

  it('waits for a process that has just taken it to say where it answers', async () => {
    const { endpointUrl, close } = await startEmulators({ dir: join(temporary.path, 'elsewhere') })
    const lock = lockFolder(dir)
    setTimeout(() => writeAddress(dir, endpointUrl), 150)
    expect(await lookIntoFolder({ dir })).toMatchObject({ endpointUrl })
    lock.release()
    await close()
  })
})
