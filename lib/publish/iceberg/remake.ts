import { noDeadline } from '../../core/deadline.ts'
import { type Stream, tablesOf } from '../../streams/stream.ts'
import type { PublishLease } from '../ports.ts'
import { addressesIn } from './cleaning.ts'
import { bringUpToDate } from './current-table.ts'
import { createLook } from './inspect.ts'
import { appendToLog } from './log-table.ts'
import { addressesOf, currentOf, hasCurrent, logOf, type PublishedTable, tablePrefix } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { createProgress } from './progress.ts'
import { publishedBefore } from './publications.ts'
import type { TableUpdate } from './update.ts'

/**
 * Gives what makes tables anew from the lists of published files: one snapshot, no history. Readers see the table of before
 * until the new one stands; then all that it had is removed, whatever its snapshots still name.
 */
export function createTableRemaker(deps: IcebergDeps) {
  return {
    remake: async (names: ReadonlySet<string>, lease: PublishLease): Promise<void> => {
      for (const group of Map.groupBy(deps.streams, ({ tables }) => tables[0].name).values()) {
        const [stream] = group
        const own = new Set(group.map(({ name }) => name))
        for (const table of stream ? tablesOf(stream).filter(({ name }) => names.has(name)) : []) {
          await remakeTable({ ...updateOf(stream as Stream, own, deps), table, ...lease })
        }
      }
    },
  }
}

type Remaking = Omit<TableUpdate, 'table' | 'signal' | 'stillMine' | 'progress'>

function updateOf(stream: Stream, feeding: ReadonlySet<string>, deps: IcebergDeps): Remaking {
  const publications = () => publishedBefore(feeding, deps)
  const look = createLook(tablesOf(stream), deps)
  return { stream, publications, isInCurrentForm: () => false, anew: true, look, deadline: noDeadline, deps }
}

/** It is made in one attempt: the command that asks for it has all the time. */
async function remakeTable(remaking: Omit<TableUpdate, 'progress'>): Promise<void> {
  const { stream, table, deps } = remaking
  const update = { ...remaking, progress: createProgress(table.name, null) }
  await appendToLog(update)
  await removeOthers(logOf(table), deps)
  if (!hasCurrent(stream, table)) return
  await bringUpToDate(update)
  await removeOthers(currentOf(table), deps)
}

/** Removes from a table's folder all but what its metadata names, and the metadata itself. */
async function removeOthers(published: PublishedTable, deps: IcebergDeps): Promise<void> {
  const found = await deps.pointers.find(published.name)
  if (!found) return
  const { keyOf } = addressesOf(deps.address)
  const kept = new Set([keyOf(found.path)])
  for (const snapshot of found.metadata.snapshots) {
    for (const address of await addressesIn(snapshot, published, deps)) kept.add(keyOf(address))
  }
  const keys = await deps.files.list(tablePrefix(published.name))
  await deps.files.remove(keys.filter((key) => !kept.has(key) && !key.endsWith('/version-hint.text')))
}
