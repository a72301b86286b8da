import type { Simulator } from '../../lib/local/simulator/simulator.ts'

/** A record as the platform sends it. */
export type Listed = { [field: string]: unknown }

/** Where each list of the platform is, what it is called in an answer, and the fields that name a record. */
export const lists = {
  readiness_reports: { path: '/api/organization/maturity-level-reports', items: 'reports', key: 'reportId' },
  sessions: { path: '/api/v0/sessions', items: 'sessions', key: 'sessionId' },
  organization_users: { path: '/api/v0/organization/users', items: 'users', key: 'id' },
  enterprise_control_revisions: {
    path: '/api/v0/organization/enterprise-controls/history',
    items: 'changes',
    key: 'revision',
  },
  computers: { path: '/api/v0/computers', items: 'computers', key: 'id' },
} as const
export type ListName = keyof typeof lists

/** Everything in a list of the platform, read by a client that knows nothing of ours. */
export async function everythingListed(simulator: Simulator, name: ListName): Promise<Listed[]> {
  const { path, items, key } = lists[name]
  return await readList(simulator, { path, items, key: name === 'readiness_reports' ? key : null })
}

/** The messages of a session. */
export async function messagesListed(simulator: Simulator, sessionId: string): Promise<Listed[]> {
  return await readList(simulator, { path: `/api/v0/sessions/${sessionId}/messages`, items: 'messages', key: null })
}

type List = { path: string; items: string; key: string | null }

/** Pages by cursor, or by the id of the last record where `key` names it. */
async function readList(simulator: Simulator, { path, items, key }: List): Promise<Listed[]> {
  const records: Listed[] = []
  for (let query = 'limit=100'; ; ) {
    const response = await fetch(`${simulator.url}${path}?${query}`, { headers: { authorization: 'Bearer sim-key' } })
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    const body = (await response.json()) as { [name: string]: unknown }
    const page = body[items] as Listed[]
    records.push(...page)
    const { hasMore, nextCursor } = (body.pagination ?? {}) as { hasMore?: boolean; nextCursor?: string }
    if (key === null ? !hasMore : page.length === 0) return records
    query = key === null ? `limit=100&cursor=${nextCursor}` : `limit=100&startAfter=${page.at(-1)?.[key]}`
  }
}
