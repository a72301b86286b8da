import { FatalError } from '../core/errors.ts'
import { sha256 } from '../core/hash.ts'
import type { PartFile } from '../sync/checkpoint.ts'

/** The bytes of a part. @throws FatalError `damaged_state` when it is gone, or isn't what was written. */
export function intactPart(part: PartFile, bytes: Uint8Array | null): Uint8Array {
  if (bytes === null) throw gonePart(part)
  if (sha256(bytes) !== part.sha256) throw changedPart(part)
  return bytes
}

/** What to say of a part that is not there. */
export function gonePart(part: PartFile): FatalError {
  return damaged(part, 'is gone')
}

/** What to say of a part that is not what was written: its digest differs, or it can't be read. */
export function changedPart(part: PartFile, cause?: unknown): FatalError {
  return damaged(part, 'is not what was written', cause)
}

function damaged({ key, table }: PartFile, what: string, cause?: unknown): FatalError {
  return new FatalError(
    `The object ${key} of the lake, a part of a scan of ${table} that waits for publish, ${what}. ` +
      'Restore an earlier version of the object.',
    { code: 'damaged_state', cause },
  )
}
