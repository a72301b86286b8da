import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import { lineJson } from '../core/json.ts'
import { Manifest } from '../publish/manifest.ts'
import type { Manifests } from '../publish/ports.ts'
import { withoutShard } from '../streams/shards.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Lake, PartPath, QuarantinedRecord } from '../sync/ports.ts'
import {
  latestManifestKey,
  manifestKey,
  manifestPrefix,
  orphansOf,
  partKey,
  scanPartitions,
  schemaVersion,
} from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'
import { encodeParquet } from './parquet.ts'

/** Changes when the lines of quarantine files do. */
const quarantineVersion = '2'

/** The lake in S3, and a reader for what is published. */
export function createLake(objects: ObjectStore): Lake & Manifests & { readManifests(): Promise<Manifest[]> } {
  const write = async (file: Omit<PartFile, 'bytes' | 'sha256'>, bytes: Uint8Array, signal: AbortSignal) => {
    const contentType = file.kind === 'changes' ? 'application/vnd.apache.parquet' : 'application/gzip'
    await objects.put(file.key, bytes, { signal, contentType })
    return { ...file, bytes: bytes.byteLength, sha256: sha256(bytes) }
  }
  const writeJson = (key: string, value: unknown, signal: AbortSignal) =>
    objects.put(key, Buffer.from(JSON.stringify(value)), { signal, contentType: 'application/json' })

  return {
    writeRows: (path, batch, signal) => {
      const { table, rows } = batch
      const key = partKey('changes', table.name, path)
      const file = { kind: 'changes', table: table.name, key, rows, schemaVersion: schemaVersion(table) } as const
      return write(file, encodeParquet(batch), signal)
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
    readManifest: (runId) => readManifest(objects, manifestKey(runId)),
    writeManifest: (manifest, signal) => writeJson(manifestKey(manifest.runId), manifest, signal),
    pointLatest: (manifest, signal) => writeJson(latestManifestKey, manifest, signal),
    removeOrphans: async (scan, stream, files) => {
      const keys = await Promise.all(scanPartitions(scan, stream).map(objects.list))
      const orphans = orphansOf(keys.flat(), scan, files)
      await objects.remove(orphans)
      return orphans.length
    },
    readManifests: async () => {
      const keys = (await objects.list(`${manifestPrefix}run=`)).filter((key) => key.endsWith('.json'))
      const manifests = await Promise.all(keys.map((key) => readManifest(objects, key)))
      return manifests.filter((manifest) => manifest !== null)
    },
  }
}

async function readManifest(objects: ObjectStore, key: string): Promise<Manifest | null> {
  const bytes = await objects.get(key)
  if (!bytes) return null
  try {
    return Manifest.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch (cause) {
    const message = `the manifest s3://${objects.bucket}/${key} can't be read. Restore an earlier version of the object`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}

/** One line per record. `raw` is JSON text in a string, so that a reader's parser can't trip over what broke ours. */
function quarantineFile({ stream, runId, scanId }: PartPath, records: QuarantinedRecord[]): Promise<Buffer> {
  const lines = records.map(({ key, reasons, raw }) => {
    return `${lineJson({ stream: withoutShard(stream), key, reasons, raw, run_id: runId, scan_id: scanId })}\n`
  })
  return promisify(gzip)(lines.join(''))
}
