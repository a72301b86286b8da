import { isPlainObject } from '../../../lib/core/canonical-json.ts'
import type { Json } from '../../../lib/core/json.ts'
import { cutBody, type Recognizer } from '../../../lib/platform/cut.ts'
import type { Page, PageBody } from '../../../lib/platform/paging.ts'
import type { Source } from '../../../lib/sync/ports.ts'

/** A platform that a test scripts: it sees each token and answers a page, or throws. */
export type ScriptedSource = Source & { readonly tokens: (string | null)[] }

/** Whether a list ends with a page. */
export type EndsWith = (page: PageBody, newIds: number) => boolean

/** A page of a list that ends where no token follows, unless the list has another end. */
export function pageOf(page: PageBody, endsWith: EndsWith = ({ nextToken }) => nextToken === null): Page {
  return { ...page, isLast: (newIds) => endsWith(page, newIds) }
}

/** A page as its bytes were cut, where records can be told by their bytes; `turned`: each with its keys the other way round. */
export function cutPage(page: PageBody, recognizer: Recognizer | undefined, { turned = false } = {}): Page {
  if (!recognizer) return pageOf(page)
  const items = turned ? page.records.map(withKeysTurned) : page.records
  const body = cutBody(Buffer.from(JSON.stringify({ items })), 'items', recognizer)
  if (!body) throw new Error('a page of a test can be cut')
  return { ...pageOf({ ...page, records: [] }), cut: body.records }
}

function withKeysTurned(record: Json): Json {
  return isPlainObject(record) ? Object.fromEntries(Object.entries(record).reverse()) : record
}

/** Answers as `answer` says; `request` counts from 1. */
export function scripted(
  answer: (token: string | null, request: number) => PageBody | Promise<PageBody>,
  endsWith?: EndsWith,
): ScriptedSource {
  const tokens: (string | null)[] = []
  return {
    tokens,
    fetchPage: async (_stream, token, { signal, onRequest }) => {
      signal.throwIfAborted()
      onRequest()
      tokens.push(token)
      return pageOf(await answer(token, tokens.length), endsWith)
    },
  }
}

/** A cursor list of fixed pages, whose tokens are p1, p2 and so on. */
export function pagesOf(...pages: Json[][]): ScriptedSource {
  return scripted((token) => {
    const at = token === null ? 0 : Number(token.slice(1))
    return { records: pages[at] ?? [], nextToken: at + 1 < pages.length ? `p${at + 1}` : null }
  })
}

/** A list of records cut into pages. */
export function listOf(records: Json[], pageSize = 100): ScriptedSource {
  return pagesOf(...chunks(records, pageSize))
}

/** Cuts a list; an empty one is one empty page. */
export function chunks<T>(items: T[], size: number): T[][] {
  return items.length === 0
    ? [[]]
    : Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size))
}

/** A user as the platform lists them. */
export function user(id: string | number, fields: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    id: `u${id}`,
    email: `u${id}@example.com`,
    ...fields,
  }
}

/** A record that no table can take, since it is nested too deep. */
export function nestedUser(id: string | number, levels = 5_000): { [key: string]: Json } {
  return user(id, { metadata: nested(levels) })
}

/** Objects within each other. */
export function nested(levels: number): Json {
  return JSON.parse(`${'{"in":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`) as Json
}

/** Users u0, u1 and so on. */
export function users(count: number): { [key: string]: Json }[] {
  return Array.from({ length: count }, (_, n) => user(n))
}

/** A session as the platform lists them. */
export function session(id: string | number, fields: { [key: string]: Json } = {}): { [key: string]: Json } {
  return {
    sessionId: `s${id}`,
    status: 'idle',
    messageCount: 1,
    createdAt: Date.UTC(2026, 0, 1),
    updatedAt: Date.UTC(2026, 0, 2),
    ...fields,
  }
}
