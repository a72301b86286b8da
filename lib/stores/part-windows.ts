import { createHash } from 'node:crypto'
import { bufferOver, release } from '../core/buffer.ts'
import type { PartFile } from '../sync/checkpoint.ts'
import { changedPart, gonePart } from './intact-part.ts'
import type { ObjectStore } from './objects.ts'
import type { PartBytes } from './part-rows.ts'

/** How a part is read: so many bytes at a time, when it is its turn, for as long as the lease holds. */
export type Windows = {
  objects: Pick<ObjectStore, 'getRange'>
  windowBytes: number
  /** What all parts of a merge are read through: each has a window on its way, and there are many parts. */
  inTurn: <T>(read: () => Promise<T>) => Promise<T>
  signal: AbortSignal
}

/**
 * The bytes of a part from its beginning to its end, in windows; the next one is asked for while one is worked on. A part
 * that fits into one window is checked before anything of it is handed out, a larger one when its last window is there.
 * @throws FatalError `damaged_state` when it is gone, or isn't what was written.
 */
export function windowsOf(part: PartFile, { objects, windowBytes, inTurn, signal }: Windows): PartBytes {
  const digest = createHash('sha256')
  let held: Buffer = Buffer.alloc(0)
  let at = 0
  let asked = 0
  const ask = (): Promise<Uint8Array> | null => {
    if (asked >= part.bytes) return null
    const [from, to] = [asked, Math.min(asked + windowBytes, part.bytes)]
    asked = to
    const window = inTurn(() => rangeOf(part, { from, to }, { objects, signal }))
    // It is awaited when it is needed, which may be never.
    window.catch(() => {})
    return window
  }
  let coming = ask()
  return {
    damaged: (cause) => changedPart(part, cause),
    next: async (count) => {
      while (held.byteLength - at < count) {
        if (coming === null) throw changedPart(part)
        const window = await coming
        digest.update(window)
        const before = held
        held = at === held.byteLength ? bufferOver(window) : Buffer.concat([held.subarray(at), window])
        release(before)
        if (held.buffer !== window.buffer) release(window)
        at = 0
        coming = ask()
        if (coming === null && digest.digest('hex') !== part.sha256) throw changedPart(part)
      }
      at += count
      return held.subarray(at - count, at)
    },
  }
}

type Range = { from: number; to: number }

async function rangeOf(
  part: PartFile,
  { from, to }: Range,
  { objects, signal }: Pick<Windows, 'objects' | 'signal'>,
): Promise<Uint8Array> {
  const bytes = await objects.getRange(part.key, from, to)
  // Whoever took over merges the parts, too, and removes them then: that one is gone says nothing.
  signal.throwIfAborted()
  if (bytes === null) throw gonePart(part)
  if (bytes.byteLength !== to - from) throw changedPart(part)
  return bytes
}
