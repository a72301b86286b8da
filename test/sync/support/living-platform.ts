import { RejectedError, RetryableError } from '../../../lib/core/errors.ts'
import type { Json } from '../../../lib/core/json.ts'
import type { Page } from '../../../lib/platform/paging.ts'
import { gapsOf } from '../../../lib/platform/partial.ts'
import { keyFieldsOf } from '../../../lib/streams/keys.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { readinessReports } from '../../../lib/streams/readiness-reports.ts'
import { sessions } from '../../../lib/streams/sessions.ts'
import type { Stream } from '../../../lib/streams/stream.ts'
import type { Source } from '../../../lib/sync/ports.ts'
import { nested, pageOf, session } from './source.ts'

/** Something that happens to one of the platform's records; `pick` says to which. */
export type Happening = {
  what: 'change' | 'add' | 'remove' | 'break' | 'oddField' | 'heal' | 'moveToEnd' | 'staleCopy' | 'unkeyed'
  pick: number
}

/** Broken: no table can take it. Odd: a field has a form that was not foreseen. */
type Content = { version: number; broken: boolean; odd: boolean }

const day = Date.UTC(2026, 0, 1)
const tooDeep = { deep: nested(300) }

/** The three ways to page, each with a stream of its own. Times of change grow with the version. */
export const kinds = {
  users: {
    stream: organizationUsers,
    record: (id: string, { version, broken, odd }: Content): Json => ({
      id,
      firstName: odd ? [version] : `v${version}`,
      ...(broken ? tooDeep : {}),
    }),
    stale: false,
  },
  sessions: {
    stream: sessions,
    record: (id: string, { version, broken, odd }: Content): Json => ({
      ...session(0, { title: `v${version}`, updatedAt: day + version, ...(odd ? { messageCount: 'many' } : {}) }),
      sessionId: id,
      ...(broken ? tooDeep : {}),
    }),
    stale: true,
  },
  reports: {
    stream: readinessReports,
    record: (id: string, { version, broken, odd }: Content): Json => ({
      reportId: id,
      createdAt: day,
      repoUrl: `https://example.com/v${version}`,
      apps: { web: odd ? 'none' : { description: `v${version}` } },
      report: {},
      ...(broken ? tooDeep : {}),
    }),
    stale: false,
  },
} satisfies Record<string, { stream: Stream; record: (id: string, content: Content) => Json; stale: boolean }>
export type KindName = keyof typeof kinds

/** A platform whose records live: they change, come, go and move, also while they are listed. */
export function createLivingPlatform(name: KindName, { size, pageSize }: { size: number; pageSize: number }) {
  const { stream, record, stale } = kinds[name]
  const places = new Map<string, number>()
  const contents = new Map<string, Content>()
  const touched = new Set<string>()
  const extras: Json[] = []
  // Older copies that stand beside a record in the list, until it is touched again.
  const stales = new Map<string, { id: string; content: Content }>()
  let born = 0
  let versions = 0
  let place = 0

  const add = () => {
    const id = `r${born++}`
    places.set(id, place++)
    contents.set(id, { version: versions++, broken: false, odd: false })
    touched.add(id)
  }
  for (let n = 0; n < size; n++) add()

  const happen = ({ what, pick }: Happening) => {
    const ids = [...contents.keys()]
    const id = ids[pick % ids.length]
    if (what === 'add' || id === undefined) return add()
    const content = contents.get(id) as Content
    if (what === 'unkeyed') {
      if (name !== 'reports') extras.push({ [keyFieldsOf(stream)[0]!]: null })
      return
    }
    if (what === 'staleCopy') {
      const beside = ids[(pick * 7) % ids.length] as string
      if (stale && !content.broken)
        stales.set(beside, { id, content: { version: content.version - 1, broken: false, odd: content.odd } })
      return
    }
    // A report that moved would take the page token along that names it.
    if (what === 'moveToEnd' && name === 'reports') return
    touched.add(id)
    if (what === 'remove') contents.delete(id)
    else if (what === 'moveToEnd') places.set(id, place++)
    else contents.set(id, { version: versions++, broken: what === 'break', odd: what === 'oddField' })
  }

  const listed = () => [...contents.keys()].sort((a, b) => (places.get(a) as number) - (places.get(b) as number))
  const page = (token: string | null) => {
    // A token names the place after which to go on; the readiness list names the record instead.
    const from = token === null ? -1 : name === 'reports' ? (places.get(token) as number) : Number(token)
    const rest = listed().filter((id) => (places.get(id) as number) > from)
    const ids = rest.slice(0, pageSize)
    const copies = ids.flatMap((id) => stales.get(id) ?? []).filter(({ id }) => contents.has(id))
    const records = [
      ...ids.map((id) => record(id, contents.get(id) as Content)),
      ...copies.map(({ id, content }) => record(id, content)),
      ...extras.splice(0),
    ]
    const last = ids.at(-1)
    const next = last === undefined ? null : name === 'reports' ? last : String(places.get(last))
    return { records, nextToken: name === 'reports' || rest.length > pageSize ? next : null }
  }

  return {
    stream,
    happen,
    /** Ids of what was touched since the last call. */
    takeTouched: () => {
      const taken = new Set(touched)
      touched.clear()
      stales.clear()
      return taken
    },
    /** What is listed now, by id: the record's JSON, or null for one that no table can take. */
    state: (): Map<string, Json | null> =>
      new Map([...contents].map(([id, content]) => [id, content.broken ? null : record(id, content)])),
    isOdd: (id: string): boolean => contents.get(id)?.odd === true,
    page,
  }
}
export type LivingPlatform = ReturnType<typeof createLivingPlatform>

/** What goes wrong with a request, or happens right before it. */
export type RequestEvent = { request: number; happening?: Happening; fault?: Fault }
export type Fault = 'server_error' | 'refused' | 'partial' | 'wait'

/** Reads a living platform; events strike by the number of the request since this source was made. */
export function sourceOf(platform: LivingPlatform, events: readonly RequestEvent[]): Source {
  let requests = 0
  return {
    fetchPage: async (_stream, token, { signal, onRequest }) => {
      signal.throwIfAborted()
      onRequest()
      requests += 1
      for (const { request, happening, fault } of events) {
        if (request !== requests) continue
        if (happening) platform.happen(happening)
        if (fault === 'server_error') throw new RetryableError('500', { code: 'server_error', status: 500 })
        if (fault === 'wait') throw new RetryableError('429', { code: 'rate_limited', retryAfterMs: 90_000 })
        if (fault === 'partial') return half(platform, token)
        if (fault === 'refused' && token !== null) throw new RejectedError('400', { code: 'bad_request', status: 400 })
      }
      return pageOf(platform.page(token))
    },
  }
}

/** Half of a page that says so, as the client judges it. */
function half(platform: LivingPlatform, token: string | null): Page {
  const { records, nextToken } = platform.page(token)
  const body = { items: records.filter((_, at) => at % 2 === 0), errors: [{ message: 'shard 3 timed out' }] }
  if (gapsOf(body) !== null) throw new RetryableError('partial', { code: 'partial_answer', status: 200 })
  return pageOf({ records: body.items, nextToken })
}
