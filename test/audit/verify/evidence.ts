import type { ChainHeads } from '../../../lib/audit/trail/head.ts'
import { type Verification, type VerifyOptions, verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { auditParts, memoryObjects, revisions, scan, signal, stored } from '../memory.ts'

/** The objects of a trail. */
export type Objects = Map<string, Uint8Array>

/** A trail as it was recorded, with what vouches for it from outside. */
export type Evidence = {
  objects: Objects
  heads: ChainHeads
  now: number
  /** What the verifier knows beside the bucket itself. */
  online: VerifyOptions
  /** A copy of the trail with a change. */
  tampered(change: (objects: Objects) => void): Objects
  digestHash(sequence: number): string
}

export const hour = 3_600_000

/** Five entries, a finding, and three digests: of the first two entries, of all, and of a day without change. */
export async function recordEvidence(): Promise<Evidence> {
  const { store, head, clock, recorder, digester } = auditParts()
  await recorder.record(revisions(1, 2), scan, signal)
  await digester.writeIfDue(signal)
  clock.at += 20 * hour
  await recorder.record(revisions(3, 5), scan, signal)
  await recorder.compare(new Set([1, 2, 3, 5]), scan, signal)
  await digester.writeIfDue(signal)
  clock.at += 24 * hour
  await digester.write(signal)
  const { objects } = store
  const { heads } = (await head.read())!.state
  return {
    objects,
    heads,
    now: clock.at,
    online: { head: async () => heads, now: clock.at },
    tampered: (change) => {
      const copy = new Map(objects)
      change(copy)
      return copy
    },
    digestHash: (sequence) => String(stored(objects, 'digests')[sequence - 1]?.hash),
  }
}

/** Verifies objects in memory. */
export function verify(objects: Objects, options?: VerifyOptions): Promise<Verification> {
  return verifyTrail(memoryObjects(objects), options)
}

/** The faults of objects in memory, each with its kind and its place. */
export async function faultsOf(objects: Objects, options?: VerifyOptions): Promise<string[]> {
  return (await verify(objects, options)).faults.map(({ kind, place }) => `${kind} ${place}`)
}
