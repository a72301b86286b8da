import { createKeyedDigest } from '../core/keyed-digest.ts'
import type { Recognizer } from '../platform/cut.ts'
import { columnsOf } from '../streams/table.ts'
import type { ScanContext } from './context.ts'
import type { KeyTable } from './key-table.ts'

/**
 * The recognizer of a stream: it tells records whose very bytes are known, so that they need not be read. Undefined where
 * an observer is to see each record, and where records don't say whose they are. Its key changes with the redaction and
 * with the stream's declaration, since either may make something else of the same bytes; then nothing is recognized, and
 * each record is read once more.
 */
export function recognizerOf({ stream, observer, deps }: ScanContext, table: KeyTable): Recognizer | undefined {
  if (observer || stream.parent) return undefined
  const { name, primaryKey, secretPaths, dataMaps = [], tables } = stream
  const columns = tables.map((each) => [each.name, ...columnsOf(each).map((column) => [column.name, column.type])])
  const purpose = JSON.stringify(['bytes', name, primaryKey, secretPaths, dataMaps, columns])
  return { digest: createKeyedDigest(deps.digestKey(purpose)), find: table.findBytes }
}
