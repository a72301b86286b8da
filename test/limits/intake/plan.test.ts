import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultRules, type LimitRules } from '../../../lib/limits/entries.ts'
import { checkPlan, intentsOfPlan } from '../../../lib/limits/intake/apply-plan.ts'
import { writeLimitsCsv } from '../../../lib/limits/intake/csv.ts'
import { makePlan, type Plan, parsePlan } from '../../../lib/limits/intake/plan.ts'
import { readLimitsFile } from '../../../lib/limits/intake/read-file.ts'
import { at, intent, message, type Platform, start, startPlatform, workerOn } from '../fixture.ts'

let platform: Platform
let users: string[]
beforeAll(async () => {
  platform = await startPlatform()
  users = platform.users
})
afterAll(() => platform.simulator.close())

type Worker = ReturnType<typeof workerOn>

async function planOf(
  csv: string,
  { reader }: Pick<Worker, 'reader'>,
  { rules = defaultRules, sendsAll = false }: { rules?: LimitRules; sendsAll?: boolean } = {},
): Promise<Plan> {
  const file = await readLimitsFile(Buffer.from(csv), rules)
  const states = await reader.statesWithPending(file.rows.map(({ identity }) => identity))
  return makePlan({ source: 'limits.csv', file, states, knownUsers: new Set(users), rules, sendsAll })
}

describe('a plan', () => {
  it('says what is new, changed, the same, invalid, in conflict, repeated and unknown, with line numbers', async () => {
    const worker = workerOn(platform)
    const [ana, bob, cy, dee] = users as [string, string, string, string]
    await worker.apply([message(intent({ [ana]: 1, [bob]: 2 }))])
    const csv = `email,limit\n${ana},1\n${bob},3\n${cy},4\nnobody@x.io,5\n${dee},6\n${dee.toUpperCase()},7\n${cy},4\nbad,1\n`
    expect(await planOf(csv, worker)).toMatchObject({
      changes: [
        { line: 3, email: bob, kind: 'changed', from: 2, limit: 3 },
        { line: 4, email: cy, kind: 'new', from: null, limit: 4 },
        { line: 5, email: 'nobody@x.io', kind: 'new', from: null, limit: 5 },
      ],
      same: [{ line: 2, email: ana, limit: 1 }],
      conflicts: [{ lines: [6, 7], email: dee, limits: [6, 7] }],
      repeated: [{ line: 8, email: cy }],
      invalid: [{ line: 9, text: 'bad,1' }],
      unknown: [{ line: 5, email: 'nobody@x.io' }],
      refusals: [],
    })
  })

  it('does not call a limit the same while nobody knows whether a later one arrived', async () => {
    const worker = workerOn(platform)
    const [ana] = users as [string]
    await worker.apply([message(intent({ [ana]: 1 }))])
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503 })
    await worker.apply([message(intent({ [ana]: 2 }, { requestId: 'r2', requestedAt: at(1) }))])
    platform.simulator.clearFaults()
    const plan = await planOf(`email,limit\n${ana},1`, worker)
    expect(plan.changes).toMatchObject([{ email: ana, kind: 'changed', from: null, limit: 1 }])
  })

  it('sends what stands already while earlier requests may change it, and does not count it as a change', async () => {
    const worker = workerOn(platform)
    const [ana, bob] = users as [string, string]
    await worker.apply([message(intent({ [ana]: 1 }))])
    const waiting = message(intent({ [ana]: 9 }, { requestId: 'r2', requestedAt: at(1) }))
    const rules = { ...defaultRules, maxChanges: 1 }
    const plan = await planOf(`email,limit\n${ana},1\n${bob},2`, worker, { rules, sendsAll: true })
    expect(plan).toMatchObject({ changes: [{ email: ana, from: 1, limit: 1 }, { email: bob }], same: [], refusals: [] })
    await checkPlan(plan, { reader: worker.reader, rules, unfinished: async () => 1 })
    const intents = intentsOfPlan(plan, { requestedAt: start + 2_000, requestedBy: 'it' })
    await worker.apply([waiting])
    await worker.apply(intents.map((one) => message(one)))
    expect(platform.simulator.limits.get(ana)).toBe(1)
  })

  it('of a large file in which every address is in conflict is made at once, not address by address', async () => {
    const addresses = Array.from({ length: 30_000 }, (_, i) => `user${i}@x.io`)
    const rows = [1, 2].flatMap((limit) => addresses.map((address) => `${address},${limit}`))
    const { conflicts } = await planOf(`email,limit\n${rows.join('\n')}`, workerOn(platform))
    expect(conflicts[29_999]).toEqual({ lines: [30_001, 60_001], email: 'user29999@x.io', limits: [1, 2] })
  })

  it('has an id that is the same for the same plan, and names no other', async () => {
    const worker = workerOn(platform)
    const plan = await planOf(`email,limit\n${users[0]},1`, worker)
    expect((await planOf(`email,limit\n${users[0]},1`, worker)).id).toBe(plan.id)
    expect((await planOf(`email,limit\n${users[0]},2`, worker)).id).not.toBe(plan.id)
    expect(parsePlan(JSON.stringify(plan))).toEqual(plan)
    const changed = { ...plan, changes: [{ ...plan.changes[0], limit: 99 }] }
    expect(() => parsePlan(JSON.stringify(changed))).toThrow(/changed after it was made/)
    expect(() => parsePlan('{}')).toThrow(/no plan/)
    expect(() => parsePlan('')).toThrow(/no plan/)
  })

  it.each([
    ['more changes than allowed', 'a@x.io,1\nb@x.io,2\nc@x.io,3', /at most 2/],
    ['a limit above the maximum', 'a@x.io,1\nb@x.io,101', /line 3 asks for a larger one/],
    ['no rows', '', /no rows/],
  ])('with %s is refused as a whole', async (_what, rows, reason) => {
    const plan = await planOf(`email,limit\n${rows}`, workerOn(platform), { rules: { maxChanges: 2, maxLimit: 100 } })
    expect(plan.refusals).toEqual([expect.stringMatching(reason)])
  })

  it('of an exported ledger changes nothing', async () => {
    const worker = workerOn(platform)
    const limits = Object.fromEntries(users.slice(0, 30).map((user, i) => [i % 2 ? user.toUpperCase() : user, i]))
    await worker.apply([message(intent(limits))])
    const rows: { address: string; limit: number }[] = []
    for await (const { address, limit } of worker.reader.allStates()) if (limit !== null) rows.push({ address, limit })
    const plan = await planOf(writeLimitsCsv(rows), worker)
    expect(plan).toMatchObject({ changes: [], invalid: [], conflicts: [], unknown: [] })
    expect(plan.same).toHaveLength(30)
  })

  it('is exactly what the platform receives, whatever the file says', async () => {
    const email = fc.oneof(
      { weight: 6, arbitrary: fc.nat(40).map((i) => users[i]!) },
      { weight: 2, arbitrary: fc.nat(40).map((i) => users[i]!.toUpperCase()) },
      fc.constantFrom('nobody@x.io', 'J\u00fcrgen@x.io', 'ju\u0308rgen@x.io', 'bad', '', '=cmd@x.io', "o'neil@x.io"),
    )
    const limit = fc.oneof(fc.nat(3).map(String), fc.constantFrom('1.000', '-5', '', '1e3', '9007199254740991'))
    const file = fc.array(fc.tuple(email, limit), { maxLength: 60 })
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 3 }), async (files) => {
        const worker = workerOn(platform)
        for (const [i, rows] of files.entries()) {
          const plan = await planOf(`email,limit\n${rows.map((row) => row.join(',')).join('\n')}`, worker)
          platform.puts.length = 0
          const limits = plan.changes.map((change) => ({ email: change.email, limit: change.limit }))
          // A file of nothing but blank lines is refused, and has nothing to send.
          if (plan.refusals.length === 0)
            await checkPlan(plan, { reader: worker.reader, rules: defaultRules, unfinished: async () => 0 })
          const intents = intentsOfPlan(plan, { requestedAt: start + i * 1000, requestedBy: 'it' })
          expect((await worker.apply(intents.map((one) => message(one)))).failed).toEqual([])
          const byEmail = (a: { email: string }, b: { email: string }) => (a.email < b.email ? -1 : 1)
          expect(platform.puts.flat().sort(byEmail)).toEqual(limits.sort(byEmail))
          const after = await planOf(`email,limit\n${rows.map((row) => row.join(',')).join('\n')}`, worker)
          expect(after.changes.every(({ email }) => !users.includes(email.toLowerCase()))).toBe(true)
        }
      }),
      { numRuns: 40 },
    )
  })
})
