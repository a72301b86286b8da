import { type Stream, tablesOf } from '../../streams/stream.ts'
import type { PublishLease } from '../ports.ts'
import { addressesIn } from './cleaning.ts'
import { newestScans } from './current-files.ts'
import { bringUpToDate } from './current-table.ts'
import { createLook } from './inspect.ts'
import { appendToLog } from './log-table.ts'
import { addressesOf, currentOf, logOf, type PublishedTable, tablePrefix } from './places.ts'
import type { IcebergDeps } from './ports.ts'
import { earlierFiles, hasCurrent } from './tables.ts'
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
          await remakeTable({ ...(await updateOf(stream as Stream, own, deps)), table, ...lease })
        }
      }
    },
  }
}

type Remaking = Omit<TableUpdate, 'table' | 'signal' | 'stillMine'>

/** The scans that were published last are named: by them readers know that the table holds all that is published. */
async function updateOf(stream: Stream, own: ReadonlySet<string>, deps: IcebergDeps): Promise<Remaking> {
  const scanIds = newestScans(stream, await deps.history())
  const earlier = () => earlierFiles(own, [], deps)
  const look = createLook(tablesOf(stream), deps)
  return { stream, runId: 'remade', scanIds, files: [], anew: true, earlier, look, deps }
}

async function remakeTable(update: TableUpdate): Promise<void> {
  const { stream, table, deps } = update
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
