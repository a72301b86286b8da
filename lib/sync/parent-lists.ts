import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import { type ErrorCode, FatalError, RejectedError, SyncError } from '../core/errors.ts'
import type { Json } from '../core/json.ts'
import { keyFieldsOf, keyPart } from '../streams/keys.ts'
import type { Stream } from '../streams/stream.ts'
import { isTooHeavy } from './ask-page.ts'
import type { SyncDeps } from './context.ts'
import { wasCutShort } from './cut-short.ts'
import { type PlannedParent, watermarkText } from './parent-plan.ts'
import type { PageRequest, Source, SourcePage } from './ports.ts'
import { type KeyReader, keyReaderOf } from './validate.ts'

/** A place among the lists of a plan: a parent, a place in its list (null: the first page), and what came before it. */
const Place = z.tuple([
  z.string().describe('Id of the parent.'),
  z.string().nullable().describe("The list's own page token."),
  z.string().describe('The watermark of the parent when its list was begun: `watermarkText`.'),
  z.int().describe('Records of the list so far.'),
  z.boolean().describe('Whether one of them is newer than what is known of the parent.'),
])
type Place = z.infer<typeof Place>

/** Where a page token points to, with the watermark of that parent; null when no page of a list was read before it. */
export function placeWithin(token: string): { id: string; watermark: string } | null {
  const [id, cursor, watermark] = placeOf(token)
  return cursor === null ? null : { id, watermark }
}

function placeOf(token: string): Place {
  return Place.parse(JSON.parse(token))
}

/** What of an attempt's dependencies the lists need. */
type Asking = Pick<SyncDeps, 'source' | 'deadline' | 'settings' | 'log'>

/**
 * Reads the lists of planned parents one after another as one list: a page's token names the parent and the place in its
 * list. What is wrong with one list costs that list, which is not read this time: a refusal, a list that does not end, an
 * answer that can't be understood. `first` is the parent to begin with, if its list was begun before.
 */
export function createParentLists(
  stream: Stream,
  { planned, first }: { planned: readonly PlannedParent[]; first: string | null },
  asking: Asking,
): Source {
  const ordered = [...planned].sort((a, b) => Number(b.id === first) - Number(a.id === first))
  const lists: Lists = {
    stream,
    keyOf: keyReaderOf(stream),
    asking,
    ordered,
    places: new Map(ordered.map(({ id }, at) => [id, at])),
    guard: guardOf(''),
    restarts: 0,
    failures: { inARow: 0, refused: 0, read: 0 },
  }
  return {
    fetchPage: (_stream, token, request) => pageAt(lists, token === null ? startOf(lists, 0) : placeOf(token), request),
  }
}

/** The state of the lists of one attempt. Nobody else sees it. */
type Lists = {
  readonly stream: Stream
  readonly keyOf: KeyReader
  readonly asking: Asking
  readonly ordered: readonly PlannedParent[]
  readonly places: ReadonlyMap<string, number>
  guard: Guard
  restarts: number
  readonly failures: { inARow: number; refused: number; read: number }
}

function startOf({ ordered }: Lists, at: number): Place {
  const parent = ordered[at] as PlannedParent
  return [parent.id, null, watermarkText(parent), 0, false]
}

async function pageAt(lists: Lists, place: Place, request: PageRequest): Promise<SourcePage> {
  const [id, cursor] = place
  if (lists.guard.id !== id || cursor === null) lists.guard = guardOf(id)
  try {
    const page = await ask(lists, place, request)
    lists.failures.inARow = 0
    return page
  } catch (error) {
    if (error instanceof RejectedError && cursor !== null && mayRestart(lists)) return restarted(lists, place, request)
    return leftUnread(lists, id, { records: [], code: costOf(lists, error, request) })
  }
}

/** What a list has shown counts; what it lacks says nothing. */
function leftUnread(lists: Lists, id: string, { records, code }: { records: Json[]; code: ErrorCode }): SourcePage {
  lists.asking.log.warn('A list could not be read; the others are.', { stream: lists.stream.name, parent: id, code })
  return { ...nextAfter(lists, id), records, ofParent: { unread: { id, code } } }
}

const restartsPerList = 3
const restartsPerAttempt = 20

function mayRestart({ guard, restarts }: Lists): boolean {
  return guard.restarts < restartsPerList && restarts < restartsPerAttempt
}

/** The first page of a list whose token was refused: only what is seen from here on is in it. */
async function restarted(lists: Lists, place: Place, request: PageRequest): Promise<SourcePage> {
  const [id, , watermark] = place
  lists.restarts += 1
  lists.guard = { ...guardOf(id), restarts: lists.guard.restarts + 1 }
  const restarts = lists.guard.restarts
  const page = await pageAt(lists, [id, null, watermark, 0, false], request)
  lists.guard.restarts = restarts
  return { ...page, ofParent: { ...page.ofParent, restarts: true } }
}

async function ask(lists: Lists, place: Place, request: PageRequest): Promise<SourcePage> {
  const [id, cursor, watermark] = place
  const { stream, asking, failures } = lists
  const parent = lists.ordered[lists.places.get(id) as number] as PlannedParent
  const page = await asking.source.fetchPage(stream, cursor, { ...request, parent: id })
  const records = page.records.map((record) => withParent(stream, record, id))
  if (goesRound(lists, records, page.nextToken)) return leftUnread(lists, id, { records, code: 'stalled_list' })
  const seen = place[3] + records.length
  const isNewer = place[4] || records.some((record) => changedAfter(stream, record, parent))
  if (page.nextToken !== null) {
    const nextToken = JSON.stringify([id, page.nextToken, watermark, seen, isNewer] satisfies Place)
    return { ...page, records, nextToken, isLast: () => false }
  }
  failures.read += 1
  const miscounted = parent.size !== undefined && parent.size !== seen && !isNewer
  const completes = { key: keyPart(id), id, mark: parent.mark, miscounted }
  return { ...page, ...nextAfter(lists, id), records, ofParent: { completes } }
}

/** The end of one list is the beginning of the next one. */
function nextAfter(lists: Lists, id: string): Pick<SourcePage, 'nextToken' | 'isLast'> {
  const next = (lists.places.get(id) as number) + 1
  const nextToken = next < lists.ordered.length ? JSON.stringify(startOf(lists, next)) : null
  return { nextToken, isLast: () => nextToken === null }
}

/** A record of a list does not repeat whose list it is. */
function withParent(stream: Stream, record: Json, id: string): Json {
  const [field = ''] = keyFieldsOf(stream)
  return isPlainObject(record) ? { ...record, [field]: id } : record
}

function changedAfter({ changedAt }: Stream, record: Json, parent: PlannedParent): boolean {
  if (!isPlainObject(record) || parent.changedAt === undefined) return false
  return (changedAt?.(record) ?? Number.NEGATIVE_INFINITY) > parent.changedAt
}

/** What the list of one parent has shown, to tell when it goes round in circles. */
type Guard = { id: string; tokens: Set<string>; keys: Set<string>; barrenPages: number; restarts: number }

function guardOf(id: string): Guard {
  return { id, tokens: new Set(), keys: new Set(), barrenPages: 0, restarts: 0 }
}

const barrenPagesAllowed = 100

function goesRound({ guard, keyOf }: Lists, records: readonly Json[], nextToken: string | null): boolean {
  const before = guard.keys.size
  for (const record of records) {
    const key = keyOf(record)
    if (key !== null) guard.keys.add(key)
  }
  guard.barrenPages = guard.keys.size > before ? 0 : guard.barrenPages + 1
  if (nextToken === null) return false
  const isKnown = guard.tokens.has(nextToken)
  guard.tokens.add(nextToken)
  return isKnown || guard.barrenPages >= barrenPagesAllowed
}

/** What says something of one list alone. */
const ofOneList = new Set<ErrorCode>([
  'bad_pagination',
  'bad_request',
  'forbidden',
  'not_found',
  'partial_answer',
  'server_error',
  'timeout',
  'too_large',
  'unexpected_body',
])
const refusals = new Set<ErrorCode>(['forbidden', 'not_found', 'bad_request'])

const failuresInARow = 5
const refusalsAtFirst = 10

/** Why one list is left unread. @throws what is not the fault of one list, or befalls so many that it can't be. */
function costOf({ failures, asking, stream }: Lists, error: unknown, { pageSize }: PageRequest): ErrorCode {
  if (!(error instanceof SyncError) || !ofOneList.has(error.code) || wasCutShort(error, asking)) throw error
  // Whoever asked tries smaller pages first.
  if (isTooHeavy(error) && pageSize !== undefined && pageSize > 1) throw error
  if (refusals.has(error.code)) failures.refused += 1
  else failures.inARow += 1
  const isGeneral = failures.inARow >= failuresInARow || (failures.read === 0 && failures.refused >= refusalsAtFirst)
  if (!isGeneral) return error.code
  const message = `${stream.name}: one list after another could not be read. The last time: ${error.message}`
  throw new FatalError(message, { code: error.code, cause: error })
}
