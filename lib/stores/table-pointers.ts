import { FatalError } from '../core/errors.ts'
import { TableMetadata } from '../publish/iceberg/metadata.ts'
import { tablePrefix } from '../publish/iceberg/places.ts'
import type { FoundTable, TablePointers } from '../publish/iceberg/ports.ts'
import type { ObjectStore } from './objects.ts'

/** Where tables lie: a bucket, and the address under which engines find it. */
export type TablePlace = { objects: ObjectStore; address: string }

function metadataKey(name: string, file: string): string {
  return `${tablePrefix(name)}metadata/${file}`
}

/**
 * Tables without a catalog: `version-hint.text` names the metadata that counts, and is replaced last and in one step. Two
 * writers are kept apart by the publisher's lease.
 */
export function createFolderPointers(place: TablePlace): TablePointers {
  const { objects } = place
  const hintKey = (name: string) => metadataKey(name, 'version-hint.text')
  const hintOf = async (name: string) => {
    const bytes = await objects.get(hintKey(name))
    return bytes ? Buffer.from(bytes).toString().trim() : null
  }
  return {
    find: async (name) => {
      const version = await hintOf(name)
      if (version === null) return null
      return await readMetadata(metadataKey(name, `v${version}.metadata.json`), version, place)
    },
    replace: async (name, { found, metadata, signal }) => {
      if ((await hintOf(name)) !== (found?.version ?? null)) return false
      const version = String(Number(found?.version ?? 0) + 1)
      await writeMetadata(metadataKey(name, `v${version}.metadata.json`), metadata, { place, signal })
      await objects.put(hintKey(name), Buffer.from(version), { signal, contentType: 'text/plain' })
      return true
    },
  }
}

/** Reads a table's metadata. @throws FatalError `damaged_state` when it is gone or isn't what this worker writes. */
export async function readMetadata(key: string, version: string, place: TablePlace): Promise<FoundTable> {
  const bytes = await place.objects.get(key)
  try {
    const metadata = TableMetadata.parse(JSON.parse(Buffer.from(bytes ?? []).toString()))
    return { metadata, path: `${place.address}/${key}`, version }
  } catch (cause) {
    throw new FatalError(
      `The table's metadata ${key} ${bytes ? "can't be read" : 'is gone'}. Restore an earlier version of the object, or remove ` +
        'the table: the next publish makes it anew from the manifests of all runs.',
      { code: 'damaged_state', cause },
    )
  }
}

/** Writes a table's metadata; nobody reads it before it is pointed at. */
export async function writeMetadata(
  key: string,
  metadata: TableMetadata,
  { place, signal }: { place: TablePlace; signal: AbortSignal },
): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(metadata))
  await place.objects.put(key, bytes, { signal, contentType: 'application/json' })
}
