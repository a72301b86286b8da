import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { sha256 } from '../../core/hash.ts'
import type { PendingAppend } from './head.ts'
import type { WorkStore } from './ports.ts'

/** An object that is about to be stored. */
export type ObjectWrite = { key: string; bytes: Uint8Array }

/** The most that is packed into the head: an item in DynamoDB holds 400 KB, and this stays well below. */
export const packedBytesInHead = 200_000

/** Packs objects for the head. Revisions repeat most of their predecessor, so that many fit. */
export function packWrites(writes: readonly ObjectWrite[]): Uint8Array {
  return zstdCompressSync(
    JSON.stringify(writes.map(({ key, bytes }) => [key, Buffer.from(bytes).toString(encodingOf(key))])),
  )
}

/** Reads what `packWrites` wrote. */
function unpackWrites(packed: Uint8Array): ObjectWrite[] {
  const writes = JSON.parse(zstdDecompressSync(packed).toString()) as [string, string][]
  return writes.map(([key, text]) => ({ key, bytes: Buffer.from(text, encodingOf(key)) }))
}

/** Signatures are binary; all else is text that UTF-8 holds exactly. */
function encodingOf(key: string): 'base64' | 'utf8' {
  return key.endsWith('.sig') ? 'base64' : 'utf8'
}

/** Puts packed objects where the head can refer to them: into itself, or into the work store when they are large. */
export async function stageWrites(
  work: WorkStore,
  packed: Uint8Array,
  signal: AbortSignal,
): Promise<PendingAppend['writes']> {
  if (packed.byteLength <= packedBytesInHead) return { packed }
  const staged = `index/audit/staged/${sha256(packed)}`
  await work.put(staged, packed, { signal })
  return { staged }
}

/** Reads the objects that a head refers to; null when they were already stored and cleared away. */
export async function readStaged(
  work: Pick<WorkStore, 'get'>,
  writes: PendingAppend['writes'],
): Promise<ObjectWrite[] | null> {
  if ('packed' in writes) return unpackWrites(writes.packed)
  const packed = await work.get(writes.staged)
  return packed && unpackWrites(packed)
}
