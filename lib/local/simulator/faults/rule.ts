import * as z from 'zod'
import { endpointNames } from '../answer.ts'
import { recordFault } from './record-rule.ts'

function count() {
  return z.int().min(0)
}
function text() {
  return z.string()
}
/** When a rule strikes: on which endpoint, and on which of the requests that it has seen there. */
const when = {
  endpoint: z.union([z.enum(endpointNames), z.literal('*')]),
  /** Only requests that name this session in their path. */
  sessionId: z.string().min(1).optional(),
  /** Only the n-th request (from 1) that the rule sees, or one of several. */
  page: z.union([z.int().min(1), z.array(z.int().min(1))]).optional(),
  /** Strikes so often and then no more. */
  times: z.int().min(1).optional(),
  /** Lets so many requests pass first. */
  after: count().optional(),
  /** Strikes this share of the requests, chosen by the seed. */
  probability: z.number().min(0).max(1).optional(),
}

function kind<const K extends string, S extends z.ZodRawShape>(name: K, shape: S) {
  return z.strictObject({ kind: z.literal(name), ...shape, ...when })
}

const answers = [
  kind('status', {
    status: z.int().min(200).max(599),
    body: z.unknown().optional(),
    headers: z.record(text(), text()).optional(),
  }),
  kind('html200', { html: text().optional() }),
  kind('json200', { body: z.unknown() }),
  kind('empty204', {}),
  /** A gzip body without a Content-Encoding that says so. */
  kind('rawGzip', {}),
  kind('redirect', {
    location: text(),
    status: z.union([z.literal(301), z.literal(302), z.literal(307), z.literal(308)]).default(302),
  }),
  /** An error whose body repeats the Authorization header. */
  kind('echoKey', { status: z.int().min(400).max(599).default(403) }),
  /** 400 for any page token. */
  kind('expireCursor', { status: z.union([z.literal(400), z.literal(404)]).default(400) }),
] as const

const deliveries = [
  kind('latency', { ms: count() }),
  /** Headers and some bytes, then nothing. */
  kind('stall', { bytes: count().default(10) }),
  kind('trickle', { bytesPerChunk: z.int().min(1).default(1), everyMs: count().default(1_000) }),
  /** The socket dies in the middle of the body. */
  kind('cut', { bytes: count().optional() }),
  /** The socket dies before any byte; with `handled` after the request was carried out. */
  kind('reset', { handled: z.boolean().default(false) }),
] as const

const lists = [
  /** The same page again and again: the token of the request comes back (readiness: `startAfter` is ignored). */
  kind('repeatCursor', {}),
  /** The next token is one that was used `back` requests ago. */
  kind('cycleCursor', { back: z.int().min(1).default(3) }),
  /** Fresh tokens for ever and no new record: the first page again, or empty pages. */
  kind('endlessCursor', { empty: z.boolean().default(false) }),
  kind('missingNextCursor', { asNull: z.boolean().default(false) }),
  kind('emptyNextCursor', {}),
  kind('missingHasMore', {}),
  kind('hasMoreFalseWithCursor', {}),
  /** A page without records that says there is more; nothing is left out. */
  kind('emptyPageHasMore', {}),
  kind('emptyList', {}),
  /** The list ends here, after `keep` records of this page (half of them by default). */
  kind('truncatedList', { keep: count().optional() }),
] as const

const limits = [
  /** Errors for some addresses; for all of the request when none is named. */
  kind('limitsErrors', { emails: z.array(text()).optional(), error: text().default('could not be updated') }),
  /** Addresses in neither list; their limits are not set. */
  kind('limitsOmit', { emails: z.array(text()).min(1) }),
  /** A status (400 by default) for the whole group when it holds one of these addresses. */
  kind('limitsReject', { emails: z.array(text()).min(1), status: z.int().min(400).max(599).default(400) }),
  /** 413 for a group of more entries than this. */
  kind('limitsTooMany', { most: count() }),
  /** The limits are set, and the answer is an odd one: fields replaced or dropped, rows replaced by address. */
  kind('limitsAnswer', {
    fields: z.record(text(), z.unknown()).default({}),
    drop: z.array(text()).default([]),
    rows: z.record(text(), z.unknown()).default({}),
  }),
] as const

/** A fault on demand: when it strikes, and what it does. A field that it does not know is a mistake, and refused. */
export const FaultRule = z.discriminatedUnion('kind', [
  ...answers,
  ...deliveries,
  ...lists,
  ...limits,
  kind('mutateRecord', recordFault),
])

/** A rule as it is given; fields with a default may be missing. */
export type FaultRule = z.input<typeof FaultRule>
/** A rule as it is applied. */
export type ParsedRule = z.output<typeof FaultRule>
