import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { platformStreams } from '../../lib/streams/index.ts'
import { cliIn, ended, temporaryFolder } from '../cli/cli.ts'
import { incoherences, unlike } from '../support/worlds/coherence.ts'
import { readFolder } from '../support/worlds/local-folder.ts'
import { createObserver, type Observer } from '../support/worlds/observe.ts'

const folders = ['one', 'two'] as const
const killsPerFolder = 10
const counts = { sessions: 5_500, users: 150, reports: 40, revisions: 10, computers: 6 }
const folder = temporaryFolder()
// Else each folder makes a key of its own, and fingerprints differ.
const { start, run } = cliIn(folder.path, { REDACTION_KEY: 'one key for both folders, long enough' })
let observer: Observer

beforeAll(async () => {
  observer = await createObserver()
})
afterAll(() => {
  observer.close()
  folder.remove()
})

function platformFile(name: string) {
  return join(folder.path, name, 'platform.json')
}
function prepare(name: string, days: number) {
  mkdirSync(join(folder.path, name), { recursive: true })
  writeFileSync(platformFile(name), JSON.stringify({ seed: 7, counts, days }))
}
async function look(name: string) {
  return observer.view({ contents: await readFolder(join(folder.path, name)), now: Date.now() }, platformStreams)
}

/** Kills a sync some time after it has begun to read; whether it was still alive then. */
async function killOnce(name: string, more: readonly string[]): Promise<boolean> {
  const child = start(['sync', '--local', `./${name}`, ...more])
  const over = ended(child)
  await new Promise((resolve) => child.stderr.once('data', resolve))
  await wait(Math.random() * 1_500)
  const alive = child.exitCode === null && child.kill('SIGKILL')
  await over
  return alive && child.signalCode === 'SIGKILL'
}

/** Kills syncs until it was often enough, while the platform moves on, and then lets two finish. */
async function killAndFinish(name: string) {
  prepare(name, 0)
  // Not every time: after many days unread, what is gone would be too much to be believed.
  const aDayLater = (killed: number) => (killed % 5 === 4 ? ['--skip-days', '1'] : [])
  for (let killed = 0; killed < killsPerFolder; ) if (await killOnce(name, aDayLater(killed))) killed += 1
  // The first ends what the last killed one had begun, the second reads the list as it is now.
  for (const _ of [1, 2]) expect(await run(['sync', '--local', `./${name}`])).toMatchObject({ code: 0 })
}

describe('kill -9', () => {
  it('at 20 random moments leaves what an undisturbed sync leaves, when a sync was let finish', async () => {
    await Promise.all(folders.map(killAndFinish))
    for (const name of folders) {
      const { days } = JSON.parse(readFileSync(platformFile(name), 'utf8'))
      prepare(`undisturbed-${name}`, days)
      expect(await run(['sync', '--local', `./undisturbed-${name}`])).toMatchObject({ code: 0 })
      const killed = await look(name)
      expect(incoherences(killed, platformStreams)).toEqual([])
      expect(unlike(killed, await look(`undisturbed-${name}`), platformStreams)).toEqual([])
    }
  })
})
