import { type Answer, type Call, failure, type ListBody } from '../answer.ts'
import { cursorOf, positionOfCursor } from '../cursor.ts'
import type { ResourceName, Settings } from '../options.ts'
import { repositoryUrlOf } from '../records/reports.ts'
import type { SliceRequest } from '../resource.ts'
import type { World } from '../world.ts'

type Deps = { world: World; settings: Settings }

/** The value of `limit` of a v0 list (§4.1), or the answer that refuses it. */
export function limitOf(query: URLSearchParams, { pageCap }: Settings): number | Answer {
  const text = query.get('limit') ?? '20'
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= 100) return Math.min(limit, pageCap)
  return failure(400, 'invalid_request', 'limit must be an integer from 1 to 100')
}

/** The position that `cursor` speaks of (the start without one), or the answer that refuses it. */
export function startOf(query: URLSearchParams): number | Answer {
  const cursor = query.get('cursor')
  const position = cursor === null ? 0 : positionOfCursor(cursor)
  return position ?? failure(400, 'invalid_cursor', 'cursor is not valid')
}

/** A page of a v0 list with its pagination object (§2.8). */
export function cursorList(items: string, resource: ResourceName) {
  return (call: Call, { world, settings }: Deps): Answer => {
    const limit = limitOf(call.query, settings)
    if (typeof limit !== 'number') return limit
    const start = startOf(call.query)
    if (typeof start !== 'number') return start
    const { records, next } = world.resources[resource].slice({ start, limit, keep: keepOf(call) })
    return { status: 200, body: { items, records, pagination: paginationOf(next) } }
  }
}

/** `hasMore` and, while there is more, `nextCursor`. */
export function paginationOf(next: number | null): NonNullable<ListBody['pagination']> {
  return next === null ? { hasMore: false } : { hasMore: true, nextCursor: cursorOf(next) }
}

function keepOf({ endpoint, query }: Call): SliceRequest['keep'] {
  const computerId = endpoint === 'listSessions' ? query.get('computerId') : null
  return computerId === null ? undefined : (record) => record.computerId === computerId
}

const defaultReportLimit = 50

/** The readiness reports (§4.3 rule 1). Default and maximum of the limit are "not shown": 50, and `pageCap`. */
export function listReports({ query }: Call, { world, settings }: Deps): Answer {
  const text = query.get('limit') ?? String(defaultReportLimit)
  if (!/^\d+$/.test(text) || Number(text) < 1)
    return failure(400, 'invalid_request', 'limit must be a positive integer')
  const startAfter = query.get('startAfter')
  const last = startAfter === null ? -1 : world.resources.reports.positionOf(startAfter)
  if (last === undefined) return failure(400, 'invalid_request', 'startAfter is not the reportId of a report')
  const limit = Math.min(Number(text), settings.pageCap)
  const { records } = world.resources.reports.slice({ start: last + 1, limit, keep: ofRepository(query.get('repoId')) })
  return { status: 200, body: { items: 'reports', records } }
}

// It is "not shown" where a report's repository id stands: the simulator takes `repo_<n>` for the n-th repository.
function ofRepository(repoId: string | null): SliceRequest['keep'] {
  if (repoId === null) return undefined
  const wanted = repositoryUrlOf(Number(/^repo_(\d+)$/.exec(repoId)?.[1] ?? -1))
  return (record) => record.repoUrl === wanted
}

/** The computers, whole and without a pagination object (§4.2, endpoint 10). */
export function listComputers(_call: Call, { world }: Deps): Answer {
  return {
    status: 200,
    body: {
      items: 'computers',
      records: world.resources.computers.slice({ start: 0, limit: Number.POSITIVE_INFINITY }).records,
    },
  }
}
