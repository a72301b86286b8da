import { isPlainObject } from '../core/canonical-json.ts'
import { FatalError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'

/** One page of a list: its records as they came, and the token of the page after it (null: the list says it ended). */
export type Page = {
  records: Json[]
  nextToken: string | null
  /** Whether the list ends with this page, given how many ids it brought that its pass had not seen. */
  isLast(newIds: number): boolean
}

/** A page as its body tells it. */
export type PageBody = Omit<Page, 'isLast'>

/**
 * How a list is paged: values and functions only, so that the engine needs no case per endpoint.
 * `query` makes the parameters of the request for a page (token null: the first). `parse` reads a body and throws
 * `FatalError` on any other shape: a body we don't understand is never "no data" and never the end.
 * `endsWith` says whether a page was the last, given how many ids it brought that this pass had not seen.
 */
export type Paging = {
  query(token: string | null): Record<string, string>
  parse(body: Json): PageBody
  endsWith(page: PageBody, newIds: number): boolean
}

/** Lists with `limit` and `cursor` (§4.1): the documented maximum is asked, and only `hasMore: false` ends them. */
export function cursorPages(items: string): Paging {
  return {
    query: (token) => ({ limit: '100', ...(token === null ? {} : { cursor: token }) }),
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
export function startAfterPages(items: string, idField: string): Paging {
  return {
    query: (token) => ({ limit: '100', ...(token === null ? {} : { startAfter: token }) }),
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
export function singlePage(items: string): Paging {
  return {
    query: () => ({}),
    parse: (body) => ({ records: recordsOf(body, items).records, nextToken: null }),
    endsWith: () => true,
  }
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
