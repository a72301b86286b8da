import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultRule } from '../../../lib/local/simulator/faults/rule.ts'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { ask, paths, type Row, scan, scanReports } from './ask.ts'

let sim: Simulator
beforeEach(async () => {
  sim = await startSimulator({ counts: { users: 60, reports: 60, sessions: 60 } })
})
afterEach(() => sim.close())

type Pagination = { hasMore?: boolean; nextCursor?: string | null }
async function page(cursor?: string | null) {
  const { status, body } = await ask(sim, `${paths.users}?limit=10${cursor ? `&cursor=${cursor}` : ''}`)
  const ids = ((body.users ?? []) as Row[]).map(({ id }) => id)
  return { status, ids, pagination: (body.pagination ?? {}) as Pagination }
}
/** The first pages as a client reads them that believes every token. */
async function pages(count: number) {
  const seen: Awaited<ReturnType<typeof page>>[] = []
  for (let n = 0; n < count; n += 1) seen.push(await page(seen.at(-1)?.pagination.nextCursor))
  return seen
}
async function reportIds(query = '') {
  return ((await ask(sim, `${paths.reports}?limit=10${query}`)).body.reports as Row[]).map(
    ({ reportId }) => reportId as string,
  )
}

type Bend = FaultRule extends infer R ? (R extends FaultRule ? Omit<R, 'endpoint'> : never) : never
function bend(rule: Bend) {
  return sim.fault({ endpoint: 'listUsers', ...rule } as FaultRule)
}

describe('page tokens', () => {
  it('expire', async () => {
    bend({ kind: 'expireCursor', page: 3 })
    const [first, second, third] = await pages(3)
    expect([first?.status, second?.status, third?.status]).toEqual([200, 200, 400])
  })

  it('repeat', async () => {
    bend({ kind: 'repeatCursor' })
    const [first, second, third] = await pages(3)
    expect(second?.ids).toEqual(first?.ids)
    expect(third?.pagination).toEqual(second?.pagination)
    expect(second?.pagination).toEqual({ hasMore: true, nextCursor: first?.pagination.nextCursor })
  })

  it('go round in a circle', async () => {
    bend({ kind: 'cycleCursor', back: 3, after: 4 })
    const seen = await pages(8)
    expect(seen[4]?.pagination.nextCursor).toBe(seen[1]?.pagination.nextCursor)
    expect(seen[5]?.ids).toEqual(seen[2]?.ids)
  })

  it.each([false, true])('go on for ever with nothing new (empty pages: %s)', async (empty) => {
    bend({ kind: 'endlessCursor', empty, after: 1 })
    const seen = await pages(12)
    expect(new Set(seen.map(({ pagination }) => pagination.nextCursor)).size).toBe(12)
    expect(seen.every(({ pagination }) => pagination.hasMore)).toBe(true)
    for (const { ids } of seen.slice(1)) expect(ids).toEqual(empty ? [] : seen[0]?.ids)
  })

  it.each([
    [{ kind: 'missingNextCursor' }, { hasMore: true }],
    [
      { kind: 'missingNextCursor', asNull: true },
      { hasMore: true, nextCursor: null },
    ],
    [{ kind: 'emptyNextCursor' }, { hasMore: true, nextCursor: '' }],
    [{ kind: 'missingHasMore' }, { nextCursor: expect.any(String) }],
    [{ kind: 'hasMoreFalseWithCursor' }, { hasMore: false, nextCursor: expect.any(String) }],
  ] as [Bend, Pagination][])('contradict hasMore: %j', async (rule, pagination) => {
    bend(rule)
    expect(await page()).toMatchObject({ status: 200, ids: { length: 10 } })
    expect((await page()).pagination).toEqual(pagination)
  })
})

describe('pages', () => {
  it('are empty now and then, and nothing is left out', async () => {
    bend({ kind: 'emptyPageHasMore', page: [1, 3] })
    const seen = await pages(8)
    expect(seen.map(({ ids }) => ids.length)).toEqual([0, 10, 0, 10, 10, 10, 10, 10])
    expect(new Set(seen.flatMap(({ ids }) => ids)).size).toBe(60)
    expect(seen.at(-1)?.pagination).toEqual({ hasMore: false })
  })

  it('say that nobody is there', async () => {
    bend({ kind: 'emptyList' })
    expect(await page()).toEqual({ status: 200, ids: [], pagination: { hasMore: false } })
  })

  it('end early', async () => {
    bend({ kind: 'truncatedList', page: 2, keep: 3 })
    expect(await scan(sim, paths.users, 10)).toHaveLength(13)
  })
})

describe('the readiness list', () => {
  const fault = (rule: Bend) => sim.fault({ endpoint: 'listReports', ...rule } as FaultRule)

  it('repeats its first page', async () => {
    fault({ kind: 'repeatCursor' })
    const first = await reportIds()
    expect(await reportIds(`&startAfter=${first.at(-1)}`)).toEqual(first)
  })

  it('starts over for ever', async () => {
    const all = await scanReports(sim)
    fault({ kind: 'endlessCursor' })
    expect(await reportIds(`&startAfter=${all.at(-1)?.reportId}`)).toEqual(await reportIds())
  })

  it('is empty, or ends early, or refuses its startAfter', async () => {
    const first = await reportIds()
    fault({ kind: 'emptyPageHasMore', page: 1 })
    fault({ kind: 'truncatedList', page: 2 })
    fault({ kind: 'expireCursor', page: [3, 4] })
    expect(await reportIds(`&startAfter=${first[0]}`)).toEqual([])
    expect(await reportIds()).toEqual(first.slice(0, 5))
    expect(await reportIds()).toEqual(first)
    expect((await ask(sim, `${paths.reports}?startAfter=${first[0]}`)).status).toBe(400)
  })
})

describe('a record', () => {
  const sessions = () => ask(sim, `${paths.sessions}?limit=5`)
  const rows = async () => (await sessions()).body.sessions as Row[]
  type Change = Extract<FaultRule, { kind: 'mutateRecord' }>['change']
  const mutated = async (change: Change, record = 1) => {
    const before = await rows()
    sim.fault({ endpoint: 'listSessions', kind: 'mutateRecord', record, change })
    const { text, body } = await sessions()
    return { before, text, after: body.sessions as Row[] }
  }

  it('loses a required field, and its neighbours stay', async () => {
    const { before, after } = await mutated({ do: 'remove', field: 'status' })
    const { status, ...rest } = before[1] as Row
    expect(status).toBeDefined()
    expect(after).toEqual(before.with(1, rest))
  })

  it('gets another value, also deep inside', async () => {
    const { after } = await mutated({ do: 'set', field: 'sessionSettings.tokenUsage.inputTokens', value: 'many' })
    expect(after[1]).toMatchObject({ sessionSettings: { tokenUsage: { inputTokens: 'many' } } })
  })

  it('gets an unknown field, and an unknown value', async () => {
    expect((await mutated({ do: 'unknownField' })).after[1]).toMatchObject({ seat: { tier: 'gold' } })
    expect((await mutated({ do: 'unknownEnum' })).after[1]).toMatchObject({ status: 'never_seen_before' })
  })

  it('gets a number that no double holds', async () => {
    const { text } = await mutated({ do: 'rawNumber', field: 'messageCount' })
    expect(text).toContain('"messageCount":9007199254740993,')
    expect((await mutated({ do: 'rawNumber', field: 'messageCount', text: '1e400' })).text).toContain(':1e400,')
  })

  it('ends in half an emoji', async () => {
    const { text, after } = await mutated({ do: 'loneSurrogate', field: 'title' })
    expect(text).toContain('\\ud83d"')
    expect(String(after[1]?.title).isWellFormed()).toBe(false)
  })

  it('comes twice, or once more in an older version', async () => {
    const twice = await mutated({ do: 'duplicate' })
    expect(twice.after).toEqual(twice.before.toSpliced(1, 0, twice.before[1] as Row))
    sim.clearFaults()
    const older = await mutated({ do: 'olderCopyLater' })
    const copy = older.after.at(-1) as Row
    expect(copy).toMatchObject({ sessionId: older.before[1]?.sessionId, title: 'an older title' })
    expect(copy.updatedAt as number).toBeLessThan(older.before[1]?.updatedAt as number)
  })

  it('comes in an older version first', async () => {
    const { before, after } = await mutated({ do: 'olderCopyFirst', field: 'status', value: 'pending' })
    expect(after[0]).toMatchObject({ sessionId: before[1]?.sessionId, status: 'pending' })
    expect(after.slice(1)).toEqual(before)
  })

  it('is replaced by something that is no record', async () => {
    expect((await mutated({ do: 'replace', value: null })).after[1]).toBeNull()
  })

  it('that is not on the page leaves the page alone', async () => {
    const { before, after } = await mutated({ do: 'duplicate' }, 99)
    expect(after).toEqual(before)
  })
})
