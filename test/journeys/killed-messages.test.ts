import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { cliIn, ended, temporaryFolder } from '../cli/cli.ts'

const kills = 6
const counts = { sessions: 120, messagesPerSession: 6, users: 5, reports: 2, revisions: 2, computers: 1 }
const folder = temporaryFolder()
// Else each folder makes a key of its own, and fingerprints differ.
const { start, run, json } = cliIn(folder.path, {
  REDACTION_KEY: 'one key for both folders, long enough',
  MESSAGES_ENABLED: 'true',
})
const what = ['sessions', 'session_messages']

afterAll(() => folder.remove())

function platformFile(name: string) {
  return join(folder.path, name, 'platform.json')
}

function prepare(name: string, days: number) {
  mkdirSync(join(folder.path, name), { recursive: true })
  writeFileSync(platformFile(name), JSON.stringify({ seed: 7, counts, days }))
}

/** Kills a sync some time after it has begun; whether it was still alive then. */
async function killOnce(name: string, more: readonly string[]): Promise<boolean> {
  const child = start(['sync', ...what, '--local', `./${name}`, ...more])
  const over = ended(child)
  await new Promise((resolve) => child.stderr.once('data', resolve))
  await wait(Math.random() * 2_000)
  const alive = child.exitCode === null && child.kill('SIGKILL')
  await over
  return alive && child.signalCode === 'SIGKILL'
}

/** What readers of the tables see of messages, row by row, without what depends on when it was read. */
async function messagesIn(name: string): Promise<unknown> {
  const messages = 'select session_id, message_id, _hash from session_messages_current order by all'
  const blocks = 'select session_id, message_id, position, type, _hash from message_blocks_current order by all'
  const rows = async (sql: string) => (await json(['query', '--local', `./${name}`, sql])).document
  return { messages: await rows(messages), blocks: await rows(blocks) }
}

it('kill -9 at random moments leaves the messages that an undisturbed sync leaves', async () => {
  prepare('killed', 0)
  for (let killed = 0; killed < kills; ) {
    if (await killOnce('killed', killed % 3 === 2 ? ['--skip-days', '1'] : [])) killed += 1
  }
  // The first ends what the last killed one had begun, the second reads what changed since.
  for (const _ of [1, 2]) expect(await run(['sync', ...what, '--local', './killed'])).toMatchObject({ code: 0 })
  const { days } = JSON.parse(readFileSync(platformFile('killed'), 'utf8'))
  prepare('undisturbed', days)
  expect(await run(['sync', ...what, '--local', './undisturbed'])).toMatchObject({ code: 0 })
  const expected = (await messagesIn('undisturbed')) as { messages: unknown[] }
  expect(expected.messages.length).toBeGreaterThan(counts.sessions)
  expect(await messagesIn('killed')).toEqual(expected)
})
