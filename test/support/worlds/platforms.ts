import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'

/** A platform before and after it changed, each at an address of its own. */
export type Platforms = { before: Simulator; after: Simulator; close(): Promise<void> }

type Fields = { [name: string]: unknown }

const counts = { sessions: 16, users: 13, reports: 8, revisions: 4, computers: 5, messagesPerSession: 2 }

/** Starts both. Pages of five; among the changes are all that a scan can find. */
export async function startPlatforms(): Promise<Platforms> {
  const [before, after] = [await startSimulator({ counts, pageCap: 5 }), await startSimulator({ counts, pageCap: 5 })]
  await changeSessions(before, after)
  await changeReports(after)
  await changeUsers(after)
  await changeRevisions(after)
  await changeComputers(after)
  return { before, after, close: async () => void (await Promise.all([before.close(), after.close()])) }
}

async function listOf(simulator: Simulator, path: string, items: string): Promise<Fields[]> {
  const records: Fields[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await fetch(`${simulator.url}${path}${cursor}`, { headers: { authorization: 'Bearer sim-key' } })
    const body = (await response.json()) as { [name: string]: Fields[] } & { pagination?: Fields }
    records.push(...(body[items] ?? []))
    cursor = body.pagination?.hasMore ? `?cursor=${body.pagination.nextCursor}` : null
  }
  return records
}

/** Changed, gone, new, with fewer and more nested rows, broken (a known one and a new one), and sent twice. */
async function changeSessions(before: Simulator, after: Simulator) {
  const sessions = await listOf(after, '/api/v0/sessions', 'sessions')
  const ids = sessions.map(({ sessionId }) => sessionId as string)
  const tagged = (...names: string[]) => ({ tags: names.map((name) => ({ name, metadata: { n: name.length } })) })
  const put = (simulator: Simulator, at: number, change: Fields) =>
    simulator.put('sessions', ids[at]!, { value: { ...sessions[at], ...change } })
  put(before, 1, { sessionSettings: tagged('one', 'two', 'three') })
  put(after, 1, { sessionSettings: tagged('two'), updatedAt: 1_790_000_000_000 })
  put(before, 7, { sessionSettings: {} })
  put(after, 7, { sessionSettings: tagged('new'), title: 'changed', unheardOf: { by: 'the schema' } })
  put(after, 12, { title: 'changed, too' })
  put(after, 3, { messageCount: 'many' })
  put(before, 9, { messageCount: null })
  for (const at of [0, 10]) put(after, at, { unheardOf: nested(201) })
  for (const at of [5, 14]) after.remove('sessions', ids[at]!)
  for (const [id, value] of [
    ['repeated', sessions[2]],
    ['repeated-newer', { ...sessions[4], title: 'the newer copy', updatedAt: 1_791_000_000_000 }],
    ['repeated-older', { ...sessions[12], title: 'an older copy', updatedAt: 1_700_000_000_000 }],
    ['new-broken', { sessionId: 'new-broken', status: 7 }],
    ['unkeyed', { status: 'idle' }],
    ['new', { ...sessions[0], sessionId: 'new' }],
  ] as const) {
    if (id !== 'unkeyed') after.put('sessions', id, { value })
  }
  before.put('sessions', 'repeated', { value: { ...sessions[2], title: 'a copy', updatedAt: 1_791_000_000_000 } })
}

/** A value that no table can take: in quarantine, in two flushes. */
function nested(levels: number): unknown {
  return levels === 0 ? 'deep' : [nested(levels - 1)]
}

/** Fewer criteria in a known report, one report gone, one new. */
async function changeReports(after: Simulator) {
  const [first, , third] = await listOf(after, '/api/organization/maturity-level-reports', 'reports')
  const [criterion] = Object.entries(first!.report as Fields)
  after.put('reports', first!.reportId as string, { value: { ...first, report: Object.fromEntries([criterion!]) } })
  after.remove('reports', third!.reportId as string)
  after.put('reports', 'a-new-report', { value: { ...first, reportId: 'a-new-report' } })
}

/** Three new ones, one rewritten, one gone, and a number left out. */
async function changeRevisions(after: Simulator) {
  const revisions = await listOf(after, '/api/v0/organization/enterprise-controls/history', 'changes')
  const of = (number: number) => revisions.find(({ revision }) => revision === number)!
  const put = (number: number, change: Fields) =>
    after.put('revisions', String(number), {
      value: { ...of(4), revision: number, settings: { ...(of(4).settings as Fields), ...change } },
    })
  put(5, { enableAgentShield: false, sessionRetentionDays: 3 })
  put(6, { enableAgentShield: true })
  put(8, { enableAgentShield: false, commandDenylist: [] })
  after.put('revisions', '3', {
    value: { ...of(3), settings: { ...(of(3).settings as Fields), maxAutonomyLevel: 'high' } },
  })
  after.remove('revisions', '2')
}

async function changeUsers(after: Simulator) {
  const users = await listOf(after, '/api/v0/organization/users', 'users')
  const put = (at: number, change: Fields) =>
    after.put('users', users[at]!.id as string, { value: { ...users[at], ...change } })
  put(0, { firstName: 'Changed' })
  put(6, { email: 5 })
  after.remove('users', users[10]!.id as string)
  after.put('users', 'user_new', { value: { ...users[1], id: 'user_new', email: 'new@example.com' } })
}

async function changeComputers(after: Simulator) {
  const [first, second, third] = await listOf(after, '/api/v0/computers', 'computers')
  after.put('computers', first!.id as string, {
    value: { ...first, provisioningSteps: [{ id: 'only', name: 'left' }] },
  })
  after.put('computers', second!.id as string, { value: { ...second, createdAt: 'yesterday' } })
  after.remove('computers', third!.id as string)
}
