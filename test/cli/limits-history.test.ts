import { expect, it } from 'vitest'
import { findHistory, sayHistory } from '../../lib/cli/limits-history.ts'
import { createOutput, type Terminal } from '../../lib/cli/output.ts'
import { at, intent, message, usePlatform, workerOn } from '../limits/fixture.ts'

const platform = await usePlatform()
const noTerminal = {} as Terminal

function shown(history: Awaited<ReturnType<typeof findHistory>>): string[] {
  const lines: string[] = []
  sayHistory(history, {
    ...createOutput({ stdout: noTerminal, stderr: noTerminal, json: false }),
    say: (text = '') => void lines.push(...text.split('\n')),
    style: (_style, text) => text,
  })
  return lines
}

it('tells of each limit where it came from, who answers for it and what the platform said', async () => {
  const { apply, reader } = workerOn(platform)
  const [ana] = platform.users as [string]
  await apply([
    message(intent([{ email: ana, limit: 5 }], { requestId: 'hr-1', source: 'hr system', requestedBy: 'bot' })),
  ])
  const more = {
    sourceKind: 'policy',
    planId: 'p1',
    policyVersion: 'v1',
    approvedBy: 'Cy',
    requestedAt: at(60),
  } as const
  const entry = { email: ana, limit: 2_000, rule: 'override', why: 'moving\u001b[2J', until: '2026-05-31' }
  await apply([message(intent([entry], { requestId: 'r2', requestedBy: 'policy', ...more }))])
  platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 422, times: 9 })
  await apply([message(intent([{ email: ana, limit: 7 }], { requestId: 'r3', requestedAt: at(120) }))])
  const lines = shown(await findHistory(` ${ana.toUpperCase()}`, { reader, most: 100 }))
  expect(lines[0]).toBe(`${ana}: 2,000; the newest request was refused`)
  expect(lines.filter((line) => line.startsWith('  '))).toEqual([
    expect.stringContaining('asked by'),
    expect.stringMatching(/^ {2}the platform said: /),
    '  policy v1, override: moving [2J (until 2026-05-31); plan p1, asked by policy, approved by Cy',
    '  hr system; asked by bot',
  ])
  const newest = await findHistory(ana, { reader, most: 1 })
  expect([newest.outcomes.length, newest.more]).toEqual([1, true])
  expect(shown(newest).at(-1)).toContain('"--most 10" shows more')
})

it('says what is not known, and refuses what is no address', async () => {
  const { apply, reader } = workerOn(platform)
  expect(shown(await findHistory('zoe@x.io', { reader, most: 9 }))).toEqual([
    'zoe@x.io: the ledger knows no limit of this address',
  ])
  await apply([message(intent({ 'nobody@x.io': 5 }))])
  const [first] = shown(await findHistory('nobody@x.io', { reader, most: 9 }))
  expect(first).toContain('the platform refused what was asked for')
  await expect(findHistory('zoe', { reader, most: 9 })).rejects.toThrow(/malformed/)
})
