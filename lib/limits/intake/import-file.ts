import type { Clock } from '../../core/clock.ts'
import { RejectedError } from '../../core/errors.ts'
import { sha256 } from '../../core/hash.ts'
import type { Log } from '../../core/log.ts'
import type { LimitRules } from '../entries.ts'
import { isForImport } from '../inbox-places.ts'
import type { Inbox, InboxFileHead, IntentQueue, LedgerReader } from '../ports.ts'
import { entriesOfPlan } from './apply-plan.ts'
import { makePlan, type Plan, parsePlan } from './plan.ts'
import { intentsOf, publishIntents } from './publisher.ts'
import { contentTypeOf, readLimitsFile } from './read-file.ts'

/** Dependencies of `importFile`. */
export type ImportDeps = {
  inbox: Inbox
  reader: Pick<LedgerReader, 'statesWithPending'>
  queue: IntentQueue
  rules: LimitRules
  clock: Clock
  random: () => number
  log: Log
}

/** A size that no file of as many rows as may be applied has; a larger one is refused before it fills the memory. */
const maxBytes = 16 * 1024 * 1024

/** A file that was dropped into the inbox. `droppedAt` is Unix ms, as the notification says: the time of the request. */
export type DroppedFile = { key: string; droppedAt: number; droppedBy: string }

/** The result of importing a file. `ignored`: it lies where files are put that were dealt with, or is gone. */
export type Imported =
  | { status: 'published'; plan: Plan }
  | { status: 'refused'; reasons: string[] }
  | { status: 'ignored' }

/**
 * Turns a file of the inbox into intents. It is judged as a whole first: one bad row refuses it, since nobody watches
 * who could decide on the rest. Then it lies under `done/` with a result, or under `failed/` with a report.
 * A death anywhere lets the same notification go on: the plan is kept before anything is published. A file that was
 * replaced meanwhile is left where it is, for its own notification.
 */
export async function importFile(file: DroppedFile, deps: ImportDeps): Promise<Imported> {
  const { inbox, log } = deps
  if (!isForImport(file.key)) return { status: 'ignored' }
  const name = `${new Date(file.droppedAt).toISOString().replace(/[-:]|\.\d+/g, '')}-${file.key.replaceAll('/', '_')}`
  const head = await inbox.head(file.key)
  if (head && head.bytes > maxBytes) return await refuseLarge({ ...file, name, head }, deps)
  const bytes = await inbox.get(file.key)
  if (!bytes) return { status: 'ignored' }
  const resultKey = `done/${name}.result.json`
  const kept = await inbox.get(resultKey)
  const read = kept ? { plan: parsePlan(Buffer.from(kept).toString()), notes: [] } : await planOf(bytes, file, deps)
  const reasons = read instanceof RejectedError ? [read.message] : reasonsAgainst(read.plan)
  if (read instanceof RejectedError || reasons.length > 0) {
    await report({ ...file, name }, reasons, deps)
    await move(inbox, file.key, { bytes, to: `failed/${name}` })
    return { status: 'refused', reasons }
  }
  const { plan, notes } = read
  const fileHash = sha256(bytes)
  if (!kept) {
    const result = Buffer.from(JSON.stringify({ ...plan, fileHash, notes }, null, 2))
    await inbox.put(resultKey, result, { contentType: 'application/json' })
  }
  await publish(plan, file, deps)
  if (kept && fileHashOf(kept) !== fileHash) return { status: 'published', plan }
  await move(inbox, file.key, { bytes, to: `done/${name}` })
  log.info('A file with credit limits was published.', { key: file.key, changes: plan.changes.length })
  return { status: 'published', plan }
}

/** A plan, and how its file was read. */
type PlannedFile = { plan: Plan; notes: string[] }

async function planOf(bytes: Uint8Array, file: DroppedFile, deps: ImportDeps): Promise<PlannedFile | RejectedError> {
  try {
    const rows = await readLimitsFile(bytes, deps.rules)
    // All rows are sent: another file may have been dropped a moment before, and its messages wait on the queue.
    const states = await deps.reader.statesWithPending(new Set(rows.rows.map(({ identity }) => identity)))
    const common = { knownUsers: null, rules: deps.rules, sendsAll: true }
    return { plan: makePlan({ source: file.key, file: rows, states, ...common }), notes: rows.notes }
  } catch (error) {
    if (error instanceof RejectedError) return error
    throw error
  }
}

function reasonsAgainst({ refusals, invalid, conflicts }: Plan): string[] {
  return [
    ...refusals,
    ...invalid.map(({ line, reason, text }) => `line ${line}: ${reason}: ${text}`),
    ...conflicts.map(
      ({ lines, email, limits }) => `lines ${lines.join(', ')}: ${email} has different limits: ${limits.join(', ')}`,
    ),
  ]
}

async function publish(plan: Plan, { key, droppedAt, droppedBy }: DroppedFile, deps: ImportDeps): Promise<void> {
  const request = {
    requestId: `file-${sha256(`${key} ${droppedAt} ${plan.id}`).slice(0, 24)}`,
    requestedAt: new Date(droppedAt).toISOString(),
    requestedBy: droppedBy.slice(0, 320),
    source: key.slice(0, 320),
    sourceKind: 'file' as const,
    planId: plan.id,
  }
  await publishIntents(intentsOf(request, entriesOfPlan(plan)), deps)
}

async function refuseLarge(
  file: DroppedFile & { name: string; head: InboxFileHead },
  deps: ImportDeps,
): Promise<Imported> {
  const { key, name, head } = file
  const reasons = [`The file has ${head.bytes} bytes; at most ${maxBytes} are read. Cut it into smaller files.`]
  await report(file, reasons, deps)
  await deps.inbox.copy(key, `failed/${name}`, head.etag)
  if ((await deps.inbox.head(key))?.etag === head.etag) await deps.inbox.remove([key])
  return { status: 'refused', reasons }
}

async function report(
  { key, name }: DroppedFile & { name: string },
  reasons: string[],
  { inbox, log }: ImportDeps,
): Promise<void> {
  const text = `Nothing of ${key} was applied. Correct this, and drop the file again:\n\n${reasons.join('\n')}\n`
  await inbox.put(`failed/${name}.report.txt`, Buffer.from(text), { contentType: 'text/plain' })
  log.warn('A file with credit limits was refused.', { key, reasons: reasons.length })
}

/** The hash of the file that a result is of; its plan says nothing of bytes. */
function fileHashOf(result: Uint8Array): unknown {
  return (JSON.parse(Buffer.from(result).toString()) as { fileHash?: unknown }).fileHash
}

/** Moves a file. What was put in its place since it was read stays: its own notification is on its way. */
async function move(inbox: Inbox, from: string, { bytes, to }: { bytes: Uint8Array; to: string }): Promise<void> {
  await inbox.put(to, bytes, { contentType: contentTypeOf(bytes) })
  const now = await inbox.get(from)
  if (now && Buffer.compare(now, bytes) === 0) await inbox.remove([from])
}
