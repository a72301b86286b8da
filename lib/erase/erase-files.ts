import { sha256 } from '../core/hash.ts'
import { streams } from '../streams/index.ts'
import { type Stream, tablesOf } from '../streams/stream.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import type { Erasing } from './erasing.ts'
import type { Hit } from './find.ts'
import { rewrittenKey } from './places.ts'
import { unfinished } from './plan.ts'
import type { FileChange } from './ports.ts'

type Became = Pick<PartFile, 'key' | 'rows' | 'bytes' | 'sha256'>

/**
 * Takes a person out of files of the lake. Files without them are written beside; then the manifests, the lists and the
 * Iceberg tables name these; and only then what was there is removed. Files that no list names are just removed.
 */
export async function eraseFiles(hits: readonly Hit[], erasing: Erasing): Promise<void> {
  if (hits.length === 0) return
  const { lists, lake } = erasing.deps
  const { signal, stillMine } = erasing.lease
  const listed = await listedKeys(erasing)
  const became = new Map<string, Became | null>()
  for (const { key } of hits) {
    await stillMine()
    if (listed.has(key)) became.set(key, await rewritten(key, erasing))
  }
  const change: FileChange = (file) => {
    const next = became.get(file.key)
    return next === undefined ? file : next && { ...file, ...next }
  }
  await lists.changeManifests(change, signal)
  await lists.changeLists(change, signal)
  await remakeTables(hits, erasing)
  // A scan that began since may have written what no list names yet: it is left alone, and found again.
  const isQuiet = (await unfinished(erasing.deps)).length === 0
  await lake.remove(hits.map(({ key }) => key).filter((key) => isQuiet || listed.has(key)))
}

async function listedKeys({ deps: { lists } }: Erasing): Promise<Set<string>> {
  const keys = new Set((await lists.readFiles()).map(({ key }) => key))
  for await (const { scans } of lists.manifests()) {
    for (const { files } of scans) for (const { key } of files) keys.add(key)
  }
  return keys
}

/** What a file becomes; null when nothing of it is left. One that is gone was removed by its term. */
async function rewritten(key: string, { finder, fingerprint, lease, deps }: Erasing): Promise<Became | null> {
  const { lake, contents } = deps
  const bytes = await lake.get(key)
  const next = bytes && (await contents.rewriteFile({ stream: streamOf(key), key, bytes }, finder))
  if (!next) return null
  const contentType = key.endsWith('.parquet') ? 'application/vnd.apache.parquet' : 'application/gzip'
  const file = { key: rewrittenKey(key, fingerprint), rows: next.rows, bytes: next.bytes.byteLength }
  await lake.put(file.key, next.bytes, { signal: lease.signal, contentType })
  return { ...file, sha256: sha256(next.bytes) }
}

/** The stream whose rows or records a file holds. */
function streamOf(key: string): Stream {
  const [kind, name] = key.split('/')
  const isOf = (stream: Stream) =>
    kind === 'quarantine' ? stream.name === name : tablesOf(stream).some((table) => table.name === name)
  const stream = streams.find(isOf)
  if (stream) return stream
  throw new TypeError(`${key} is of no stream`)
}

/** Makes the Iceberg tables anew that name a person, or files that do. */
export async function remakeTables(hits: readonly Hit[], { deps, lease }: Erasing): Promise<void> {
  const names = hits.filter(({ key }) => !key.startsWith('quarantine/')).map(({ key }) => key.split('/')[1] ?? '')
  const tables = new Set(names.map((name) => name.replace(/_current$/, '')))
  if (tables.size > 0) await deps.tables.remake(tables, lease)
}
