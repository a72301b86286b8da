import { isPlainObject } from '../core/canonical-json.ts'
import { FatalError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import type { CutRecord } from './cut.ts'
import type { Endpoint } from './transport.ts'

/** One page of a list: its records as they came, and the token of the page after it (null: the list says it ended). */
export type Page = {
  records: Json[]
  /** The same list where it was cut and not read: then `records` is empty. */
  cut?: readonly CutRecord[] | undefined
  nextToken: string | null
  /** Members of the answer, besides the list and what pages it, that are not known: the API has changed. */
  unknownMembers?: readonly string[]
  /** Whether the list ends with this page, given how many ids it brought that its pass had not seen. */
  isLast(newIds: number): boolean
}

/** A page as its body tells it. */
export type PageBody = Omit<Page, 'cut' | 'isLast'>

/** What to ask for a page: where, and with which parameters. */
export type ListRequest = { endpoint: Endpoint; query: Record<string, string> }

/** Which page is wanted: at a token (null: the first), of a parent's list where there is a list per parent. */
export type PagePlace = { token: string | null; parent?: string; pageSize?: number | undefined }

/** How a list is read: functions only, so that the engine needs no case per endpoint. */
export type Reading = {
  /** How many records a page is asked for unless told otherwise; null where the list comes whole. */
  readonly pageSize: number | null
  /** The member of an answer whose records need not be read to page on; null where paging goes by the records. */
  readonly unread: string | null
  /** The request for a page. */
  request(place: PagePlace): ListRequest
  /**
   * Reads the body of a page that was asked for with `pageSize`, where that was another size. Throws `FatalError` on any
   * other shape: what we don't understand is never "no data", never the end.
   */
  parse(body: Json, pageSize?: number): PageBody
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
    pageSize: list.pageSize,
    unread: items,
    request: pageRequests(list, 'cursor'),
    parse: (body) => {
      const { envelope, ...page } = recordsOf(body, items, cursorMembers)
      const pagination = envelope.pagination
      if (!isPlainObject(pagination) || typeof pagination.hasMore !== 'boolean') {
        throw badPagination(`the list of ${items} came without pagination.hasMore`)
      }
      if (!pagination.hasMore) return { ...page, nextToken: null }
      const { nextCursor } = pagination
      if (typeof nextCursor === 'string' && nextCursor !== '') return { ...page, nextToken: nextCursor }
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
    pageSize: list.pageSize,
    unread: null,
    request: pageRequests(list, 'startAfter'),
    parse: (body, pageSize = list.pageSize) => {
      const { envelope: _envelope, ...page } = recordsOf(body, items)
      const { records } = page
      // One goes on from the last record that has an id; a broken one after it comes again and is taken once more.
      const ids = records.map((record) => (isPlainObject(record) ? record[idField] : undefined))
      const lastId = ids.findLast((id) => typeof id === 'string' && id !== '')
      if (typeof lastId === 'string') return { ...page, nextToken: lastId }
      // A single broken record is the tail of the list; a page full of them, which may be a page of one, is no end.
      if (records.length <= 1 && records.length < pageSize) return { ...page, nextToken: null }
      throw badPagination(`none of ${records.length} ${items} on a page has a ${idField} to go on from`)
    },
    endsWith: ({ nextToken }, newIds) => nextToken === null || newIds === 0,
  }
}

/** A list that answers whole, without a pagination object (§4.2, endpoint 10). */
export function singlePage({ endpoint, items }: List): Reading {
  return {
    pageSize: null,
    unread: items,
    request: ({ parent }) => ({ endpoint: endpointOf(endpoint, parent), query: {} }),
    parse: (body) => {
      const { envelope: _envelope, ...page } = recordsOf(body, items)
      return { ...page, nextToken: null }
    },
    endsWith: () => true,
  }
}

function pageRequests(list: Omit<PagedList, 'items'>, tokenName: string): Reading['request'] {
  const { endpoint } = list
  return ({ token, parent, pageSize = list.pageSize }) => ({
    endpoint: endpointOf(endpoint, parent),
    query: { limit: `${pageSize}`, ...(token === null ? {} : { [tokenName]: token }) },
  })
}

function endpointOf(endpoint: List['endpoint'], parent: string | undefined): Endpoint {
  if (typeof endpoint !== 'function') return endpoint
  if (parent === undefined) throw new TypeError('There is a list per parent, and none was named.')
  return endpoint(parent)
}

/** How many records a page holds. */
export function sizeOf({ records, cut = [] }: Pick<Page, 'records' | 'cut'>): number {
  return records.length + cut.length
}

type Envelope = { [key: string]: Json }
type Received = Pick<Page, 'records' | 'unknownMembers'> & { envelope: Envelope }

/** Finds the records in an answer, and what stands beside them without being known. `inside` names known inner members. */
function recordsOf(body: Json, items: string, inside: Readonly<Record<string, readonly string[]>> = {}): Received {
  const records = isPlainObject(body) ? body[items] : undefined
  if (isPlainObject(body) && Array.isArray(records)) {
    const unknownMembers = unknownIn(body, [items, ...Object.keys(inside)])
    for (const [place, known] of Object.entries(inside)) {
      const members = body[place]
      if (isPlainObject(members)) unknownMembers.push(...unknownIn(members, known).map((name) => `${place}.${name}`))
    }
    return { records, envelope: body, ...(unknownMembers.length > 0 ? { unknownMembers } : {}) }
  }
  throw new FatalError(
    `The answer has no array "${items}". The API has changed, or something else answers at this address: ` +
      'check the platform address with "platform-sync doctor".',
    { code: 'unexpected_body' },
  )
}

/** What the envelope of a list by cursor holds besides the list. */
const cursorMembers = { pagination: ['hasMore', 'nextCursor'] } as const

/** A name of another form may be data. */
const nameForm = /^[A-Za-z_$][\w$.-]{0,63}$/

function unknownIn(members: Envelope, known: readonly string[]): string[] {
  return Object.keys(members)
    .filter((name) => !known.includes(name))
    .map((name) => (nameForm.test(name) ? name : `a name of ${name.length} characters`))
}

function badPagination(what: string) {
  return new FatalError(
    `Paging is broken: ${what}. Nothing was deleted and the checkpoint stays; run again, and report it.`,
    {
      code: 'bad_pagination',
    },
  )
}
