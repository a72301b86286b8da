import { isPlainObject } from '../core/canonical-json.ts'
import { FatalError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { Endpoint } from './transport.ts'

/** One page of a list: its records as they came, and the token of the page after it (null: the list says it ended). */
export type Page = {
  records: Json[]
  nextToken: string | null
  /** Whether the list ends with this page, given how many ids it brought that its pass had not seen. */
  isLast(newIds: number): boolean
}

/** A page as its body tells it. */
export type PageBody = Omit<Page, 'isLast'>

/** What to ask for a page: where, and with which parameters. */
export type ListRequest = { endpoint: Endpoint; query: Record<string, string> }

/** How a list is read: functions only, so that the engine needs no case per endpoint. */
export type Reading = {
  /** The request for the page at a token (null: the first), of a parent's list where there is a list per parent. */
  request(token: string | null, parent?: string): ListRequest
  /** Reads a body. Throws `FatalError` on any other shape: what we don't understand is never "no data", never the end. */
  parse(body: Json): PageBody
  /** Whether a page was the last, given how many ids it brought that this pass had not seen. */
  endsWith(page: PageBody, newIds: number): boolean
}

/** A list of the platform. */
type List = {
  /** Where it is; of lists that exist per parent (the messages of a session), where a parent's is. */
  endpoint: Endpoint | ((parent: string) => Endpoint)
  /** The field of an answer that holds the records. */
  items: string
}
/** A list that comes in pages, and how many records a page is asked for: the documented maximum. */
type PagedList = List & { pageSize: number }

/** Lists with `limit` and `cursor` (§4.1): only `hasMore: false` ends them. */
export function cursorPages({ items, ...list }: PagedList): Reading {
  return {
    request: pageRequests(list, 'cursor'),
    parse: (body) => {
      const { records, envelope } = recordsOf(body, items)
      const pagination = envelope.pagination
      if (!isPlainObject(pagination) || typeof pagination.hasMore !== 'boolean') {
        throw badPagination(`the list of ${items} came without pagination.hasMore`)
      }
      if (!pagination.hasMore) return { records, nextToken: null }
      const { nextCursor } = pagination
      if (typeof nextCursor === 'string' && nextCursor !== '') return { records, nextToken: nextCursor }
      throw badPagination(`the list of ${items} says hasMore: true without a usable nextCursor`)
    },
    endsWith: ({ nextToken }) => nextToken === null,
  }
}

/**
 * The readiness list (§4.3 rule 1): the id of a page's last record is the token of the next page, and there is no
 * hasMore. It ends at an empty page, or at a page that brings no new id. A short page is just a page, since default
 * and maximum of the limit are "not shown" (§8).
 */
export function startAfterPages({ items, idField, ...list }: PagedList & { idField: string }): Reading {
  return {
    request: pageRequests(list, 'startAfter'),
    parse: (body) => {
      const { records } = recordsOf(body, items)
      // One goes on from the last record that has an id; a broken one after it comes again and is taken once more.
      const ids = records.map((record) => (isPlainObject(record) ? record[idField] : undefined))
      const lastId = ids.findLast((id) => typeof id === 'string' && id !== '')
      if (typeof lastId === 'string') return { records, nextToken: lastId }
      // A single broken record is the tail of the list; a page full of them means that the API has changed.
      if (records.length <= 1) return { records, nextToken: null }
      throw badPagination(`none of ${records.length} ${items} on a page has a ${idField} to go on from`)
    },
    endsWith: ({ nextToken }, newIds) => nextToken === null || newIds === 0,
  }
}

/** A list that answers whole, without a pagination object (§4.2, endpoint 10). */
export function singlePage({ endpoint, items }: List): Reading {
  return {
    request: (_token, parent) => ({ endpoint: endpointOf(endpoint, parent), query: {} }),
    parse: (body) => ({ records: recordsOf(body, items).records, nextToken: null }),
    endsWith: () => true,
  }
}

function pageRequests({ endpoint, pageSize }: Omit<PagedList, 'items'>, tokenName: string): Reading['request'] {
  return (token, parent) => ({
    endpoint: endpointOf(endpoint, parent),
    query: { limit: `${pageSize}`, ...(token === null ? {} : { [tokenName]: token }) },
  })
}

function endpointOf(endpoint: List['endpoint'], parent: string | undefined): Endpoint {
  if (typeof endpoint !== 'function') return endpoint
  if (parent === undefined) throw new TypeError('There is a list per parent, and none was named.')
  return endpoint(parent)
}

function recordsOf(body: Json, items: string): { records: Json[]; envelope: { [key: string]: Json } } {
  const records = isPlainObject(body) ? body[items] : undefined
  if (isPlainObject(body) && Array.isArray(records)) return { records, envelope: body }
  throw new FatalError(
    `The answer has no array "${items}". The API has changed, or something else answers at this address: ` +
      'check the platform address with "platform-sync doctor".',
    { code: 'unexpected_body' },
  )
}

function badPagination(what: string) {
  return new FatalError(
    `Paging is broken: ${what}. Nothing was deleted and the checkpoint stays; run again, and report it.`,
    {
      code: 'bad_pagination',
    },
  )
}
