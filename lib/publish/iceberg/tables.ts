import { FatalError, messageOf, RetryableError } from '../../core/errors.ts'
import { type Stream, tablesOf } from '../../streams/stream.ts'
import type { BehindTable } from '../manifest.ts'
import type { Following, MadeNow, WarehouseTables } from '../ports.ts'
import { bringUpToDate } from './current-table.ts'
import { createLook } from './inspect.ts'
import { appendToLog } from './log-table.ts'
import { currentOf, hasCurrent, logOf, type PublishedTable } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { createProgress, type ProgressKeeper } from './progress.ts'
import { type PublishedScans, publishedBefore } from './publications.ts'
import type { TableUpdate } from './update.ts'

/** The names of all tables that there are. */
export function icebergNames(streams: readonly Stream[]): string[] {
  return placesOf(streams).map(({ published }) => published.name)
}

/** A table, and the streams that feed it: one, or all of its shards. */
type Place = { published: PublishedTable; stream: Stream; feeding: ReadonlySet<string> }

function placesOf(streams: readonly Stream[]): Place[] {
  // Streams that feed the same tables come into them together: what one of them brings is not history to the next.
  return [...Map.groupBy(streams, ({ tables }) => tables[0].name).values()].flatMap((group) => {
    const [stream] = group as [Stream]
    const feeding = new Set(group.map(({ name }) => name))
    return tablesOf(stream)
      .flatMap((table) => (hasCurrent(stream, table) ? [logOf(table), currentOf(table)] : [logOf(table)]))
      .map((published) => ({ published, stream, feeding }))
  })
}

/**
 * The tables of the lake as Apache Iceberg v2 tables: `<table>`, a snapshot per run of what changed, and
 * `<table>_current`, a row per live record. They follow from the lists of published files and can be made from these alone.
 */
export function createIcebergTables(deps: IcebergDeps): WarehouseTables {
  const places = placesOf(deps.streams)
  return {
    namesOf: (streams) =>
      places
        .filter(({ feeding }) => streams.some((stream) => feeding.has(stream)))
        .map(({ published }) => published.name),
    follow: async (following) => {
      const { behind, names, deadline } = following
      const shared = createShared(following, deps)
      const triedAt = ({ published }: Place) => behind.of(published.name)?.triedAt ?? 0
      // What took all of the time comes last the next time.
      const inOrder = places
        .filter(({ published }) => names.has(published.name))
        .toSorted((a, b) => triedAt(a) - triedAt(b))
      let hasMoved = false
      for (const place of inOrder) {
        if (deadline.remainingMs() <= 0) return true
        if (!(await begin(place, following, deps))) continue
        hasMoved = (await bring(place, { following, shared, deps })) || hasMoved
        await following.stillMine()
      }
      return hasMoved
    },
  }
}

/** Whoever died in a table twice in a row may die in it again: for so long the others go on without it. */
const [deathsAllowed, restMs] = [2, 3_600_000]

/** Takes down that a table is tried which was behind before, so that a death in it is known. Answers whether it may be. */
async function begin(
  { published: { name } }: Place,
  { behind, made }: Following,
  { clock }: IcebergDeps,
): Promise<boolean> {
  const stands = behind.of(name) as BehindTable
  const { unended = 0, triedAt } = stands
  if (unended >= deathsAllowed && clock.now() - triedAt < restMs) {
    const until = new Date(triedAt + restMs).toISOString()
    const reason = `${unended} attempts at it died; it is not tried again before ${until}`
    behind.note(name, { ...stands, reason, mayPass: false })
    return false
  }
  if (made.names.has(name)) return true
  behind.note(name, { ...stands, unended: unended + 1, triedAt: clock.now() })
  await behind.save()
  return true
}

type Bringing = { following: Following; shared: Shared; deps: IcebergDeps }

/** Brings one table up to date, and takes down how it stands. Answers whether it has come further. */
async function bring({ published, ...place }: Place, { following, shared, deps }: Bringing): Promise<boolean> {
  const { behind, signal } = following
  const progress = createProgress(published.name, { behind, signal, deps })
  const update = updateOf({ published, ...place }, { following, shared, deps, progress })
  try {
    await (published.kind === 'log' ? appendToLog(update) : bringUpToDate(update))
    behind.note(published.name, null)
    return true
  } catch (error) {
    if (signal.aborted || (error instanceof FatalError && error.code === 'lease_lost')) throw error
    const isLate = isTimeUp(error)
    if (isLate) await progress.keep()
    const { unended: _, ...stands } = behind.of(published.name) as BehindTable
    behind.note(published.name, { ...stands, ...tried(error, isLate), triedAt: deps.clock.now() })
    return progress.hasMoved
  }
}

function tried(error: unknown, isLate: boolean): Pick<BehindTable, 'reason' | 'mayPass'> {
  return { reason: isLate ? null : messageOf(error), mayPass: error instanceof RetryableError }
}

/** What tables of the same streams need, once for all of them. */
type Shared = {
  made(feeding: ReadonlySet<string>): readonly PublishedScans[]
  history(feeding: ReadonlySet<string>): Promise<readonly PublishedScans[]>
  look(stream: Stream): TableUpdate['look']
}

function createShared({ made }: Following, deps: IcebergDeps): Shared {
  const histories = new Map<ReadonlySet<string>, Promise<readonly PublishedScans[]>>()
  const looks = new Map<Stream, TableUpdate['look']>()
  return {
    made: (feeding) => made.publications.flatMap((publication) => partOf(publication, feeding)),
    history: (feeding) => {
      const known = histories.get(feeding) ?? publishedBefore(feeding, deps)
      histories.set(feeding, known)
      return known
    },
    look: (stream) => {
      const known = looks.get(stream) ?? createLook(tablesOf(stream), deps)
      looks.set(stream, known)
      return known
    },
  }
}

function partOf({ publishedAt: at, runId, scans }: MadeNow, feeding: ReadonlySet<string>): PublishedScans[] {
  const own = scans.filter(({ stream }) => feeding.has(stream))
  // As the lists of published files have it to whoever goes on with it.
  const files = own.flatMap((scan) => scan.files).filter(({ kind }) => kind === 'changes')
  return own.length === 0 ? [] : [{ at, runId, scanIds: own.map(({ scanId }) => scanId), files }]
}

function updateOf(
  { published: { name, table }, stream, feeding }: Place,
  { following, shared, deps, progress }: Bringing & { progress: ProgressKeeper },
): TableUpdate {
  const { behind, made, signal, deadline } = following
  const since = behind.of(name)?.since ?? ''
  const own = new Set(shared.made(feeding).flatMap(({ files }) => files.map(({ key }) => key)))
  return {
    ...{ stream, table, look: shared.look(stream), signal, deadline, progress, deps },
    publications: async (isNew) => {
      if (!isNew && made.names.has(name)) return shared.made(feeding)
      const all = await shared.history(feeding)
      return isNew ? all : all.filter(({ at }) => at >= since)
    },
    isInCurrentForm: ({ key }) => own.has(key),
    stillMine: async () => {
      await following.stillMine()
      if (deadline.remainingMs() <= 0) throw timeIsUp(name)
    },
  }
}

function timeIsUp(name: string): RetryableError {
  return new RetryableError(`The time of this attempt is up; the next one goes on with the table ${name}.`, {
    code: 'time_is_up',
  })
}

function isTimeUp(error: unknown): boolean {
  return error instanceof RetryableError && error.code === 'time_is_up'
}
