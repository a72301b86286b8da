import type { Simulator } from '../../../lib/local/simulator/simulator.ts'

/** A record as it came. */
export type Row = { [key: string]: unknown }
export type Reply = { status: number; body: Row; text: string; headers: Headers }

const headers = { authorization: 'Bearer sim-key', 'content-type': 'application/json' }

/** One request to a simulator, with its key. */
export async function ask(sim: Pick<Simulator, 'url'>, path: string, init: RequestInit = {}): Promise<Reply> {
  const answer = await fetch(`${sim.url}${path}`, { headers, redirect: 'manual', ...init })
  const text = await answer.text()
  return { status: answer.status, text, body: parsed(text), headers: answer.headers }
}

/** One request with a JSON body. */
export function send(sim: Pick<Simulator, 'url'>, request: `${string} ${string}`, body: unknown): Promise<Reply> {
  const [method = '', path = ''] = request.split(' ')
  return ask(sim, path, { method, body: JSON.stringify(body) })
}

function parsed(text: string): Row {
  try {
    return JSON.parse(text) as Row
  } catch {
    return {}
  }
}

export const paths = {
  reports: '/api/organization/maturity-level-reports',
  sessions: '/api/v0/sessions',
  users: '/api/v0/organization/users',
  revisions: '/api/v0/organization/enterprise-controls/history',
  computers: '/api/v0/computers',
  limits: '/api/v0/organization/usage/limits/users',
} as const

/** Reads a v0 list to its end. */
export async function scan(sim: Simulator, path: string, limit = 100): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor = ''; ; ) {
    const { status, body } = await ask(sim, `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`)
    if (status !== 200) throw new Error(`status ${status}`)
    rows.push(...(Object.values(body).find(Array.isArray) as Row[]))
    const { hasMore, nextCursor } = body.pagination as { hasMore: boolean; nextCursor?: string }
    if (!hasMore) return rows
    cursor = `&cursor=${nextCursor}`
  }
}

/** Reads the readiness reports to their end. */
export async function scanReports(sim: Simulator, query = ''): Promise<Row[]> {
  const rows: Row[] = []
  for (let startAfter = ''; ; ) {
    const { body } = await ask(sim, `${paths.reports}?limit=33${query}${startAfter}`)
    const reports = body.reports as Row[]
    if (reports.length === 0) return rows
    rows.push(...reports)
    startAfter = `&startAfter=${reports.at(-1)?.reportId}`
  }
}

/** Reads every list to its end. */
export async function scanAll(sim: Simulator): Promise<Record<string, Row[]>> {
  return {
    reports: await scanReports(sim),
    sessions: await scan(sim, paths.sessions),
    users: await scan(sim, paths.users),
    revisions: await scan(sim, paths.revisions),
    computers: (await ask(sim, paths.computers)).body.computers as Row[],
  }
}

export const idFields = {
  reports: 'reportId',
  sessions: 'sessionId',
  users: 'id',
  revisions: 'revision',
  computers: 'id',
} as const
