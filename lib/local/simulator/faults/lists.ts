import type { Answer, Call, ListBody } from '../answer.ts'
import { cursorOf, positionOfCursor } from '../cursor.ts'
import { tokenOf } from './answers.ts'
import type { Strike } from './book.ts'
import { mutateRecords } from './records.ts'

/** Asks the platform again, at another page token (null: from the start). */
type Relist = (token: string | null) => Answer

/** Bends a list that the platform answered; any other answer stays as it is. */
export function bendList(answer: Answer, strike: Strike, { call, relist }: { call: Call; relist: Relist }): Answer {
  const { body } = answer
  if (typeof body === 'string' || Buffer.isBuffer(body)) return answer
  return { ...answer, body: bend(body, strike, { call, relist }) }
}

function bend(list: ListBody, strike: Strike, { call, relist }: { call: Call; relist: Relist }): ListBody {
  const { rule, tokens } = strike
  const token = tokenOf(call)
  const more = (nextCursor: string | null | undefined) =>
    withPagination(list, { hasMore: true, ...(nextCursor === undefined ? {} : { nextCursor }) })
  switch (rule.kind) {
    case 'repeatCursor':
      return list.pagination ? more(token ?? cursorOf(0)) : listOf(relist(null), list)
    case 'cycleCursor':
      return more(tokens.at(-rule.back) ?? tokens[0] ?? cursorOf(0))
    case 'endlessCursor':
      return endless(list, strike, { call, relist })
    case 'missingNextCursor':
      return more(rule.asNull ? null : undefined)
    case 'emptyNextCursor':
      return more('')
    case 'missingHasMore':
      return withPagination(list, list.pagination?.nextCursor ? { nextCursor: list.pagination.nextCursor } : {})
    case 'hasMoreFalseWithCursor':
      return withPagination(list, { hasMore: false, nextCursor: list.pagination?.nextCursor ?? 'x' })
    case 'emptyPageHasMore':
      return { ...more(freshToken(token, strike.request)), records: [] }
    case 'emptyList':
      return { ...withPagination(list, { hasMore: false }), records: [] }
    case 'truncatedList':
      return {
        ...withPagination(list, { hasMore: false }),
        records: list.records.slice(0, rule.keep ?? Math.floor(list.records.length / 2)),
      }
    case 'mutateRecord':
      return { ...list, records: mutateRecords(list.records, rule.record, rule.change) }
    default:
      return list
  }
}

/** Lists without a pagination object get none from a fault either. */
function withPagination(list: ListBody, pagination: NonNullable<ListBody['pagination']>): ListBody {
  return list.pagination ? { ...list, pagination } : list
}

function listOf({ body }: Answer, otherwise: ListBody): ListBody {
  return typeof body === 'string' || Buffer.isBuffer(body) ? otherwise : body
}

function endless(
  list: ListBody,
  { rule, request }: Strike,
  { call, relist }: { call: Call; relist: Relist },
): ListBody {
  const records = rule.kind === 'endlessCursor' && rule.empty ? [] : listOf(relist(null), list).records
  // A list that has no tokens of its own starts over where it would have ended.
  if (!list.pagination) return list.records.length > 0 ? list : { ...list, records }
  return { ...list, records, pagination: { hasMore: true, nextCursor: freshToken(tokenOf(call), request) } }
}

/** Another token for the same position. */
function freshToken(token: string | null, request: number): string {
  return cursorOf(token === null ? 0 : (positionOfCursor(token) ?? 0), request)
}
