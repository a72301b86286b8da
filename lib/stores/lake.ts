import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { eachConcurrently } from '../core/concurrency.ts'
import { sha256 } from '../core/hash.ts'
import { lineJson } from '../core/json.ts'
import { withoutShard } from '../streams/shards.ts'
import type { Stream } from '../streams/stream.ts'
import type { PartFile, ScanFootprint } from '../sync/checkpoint.ts'
import type { Lake, PartPath, QuarantinedRecord } from '../sync/ports.ts'
import { orphansOf, partKey, scanPartitions, schemaVersion } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { encodePart } from './part-rows.ts'

/** Changes when the lines of quarantine files do. */
const quarantineVersion = '2'

const listsAtOnce = 8

/** The lake in S3, as scans write it. */
export function createLake(objects: ObjectStore): Lake {
  const write = async (file: Omit<PartFile, 'bytes' | 'sha256'>, bytes: Uint8Array, signal: AbortSignal) => {
    const contentType = file.kind === 'changes' ? 'application/octet-stream' : 'application/gzip'
    await objects.put(file.key, bytes, { signal, contentType })
    return { ...file, bytes: bytes.byteLength, sha256: sha256(bytes) }
  }
  return {
    writeRows: (path, batch, signal) => {
      const { table, rows } = batch
      const key = partKey('changes', table.name, path)
      const file = { kind: 'changes', table: table.name, key, rows, schemaVersion: schemaVersion(table) } as const
      return write(file, encodePart(batch), signal)
    },
    writeQuarantine: async (path, records, signal) => {
      const key = partKey('quarantine', path.stream, path)
      const rows = records.length
      const file = {
        kind: 'quarantine',
        table: withoutShard(path.stream),
        key,
        rows,
        schemaVersion: quarantineVersion,
      } as const
      return write(file, await quarantineFile(path, records), signal)
    },
    removeOrphans: async (scans, stream, files) => {
      const keys: string[] = []
      await eachConcurrently(placesOf(scans, stream), listsAtOnce, async (prefix) => {
        keys.push(...(await objects.list(prefix)))
      })
      const orphans = scans.flatMap((scan) => orphansOf(keys, { scan, stream, files }))
      await objects.remove(orphans)
      return orphans.length
    },
  }
}

/** What to list: of one scan its own files, of several the folders that they share. */
function placesOf(scans: readonly ScanFootprint[], stream: Stream): Set<string> {
  const prefixes = scans.flatMap((scan) => scanPartitions(scan, stream))
  return new Set(scans.length === 1 ? prefixes : prefixes.map((prefix) => prefix.replace(/[^/]*$/, '')))
}

/** One line per record. `raw` is JSON text in a string, so that a reader's parser can't trip over what broke ours. */
function quarantineFile({ stream, runId, scanId }: PartPath, records: QuarantinedRecord[]): Promise<Buffer> {
  const lines = records.map(({ key, reasons, raw }) => {
    return `${lineJson({ stream: withoutShard(stream), key, reasons, raw, run_id: runId, scan_id: scanId })}\n`
  })
  return promisify(gzip)(lines.join(''))
}
