import { prefixOf } from '../trail/sealed.ts'
import type { CheckedDigest } from './check-digests.ts'
import type { EvidenceFault } from './walk.ts'

/**
 * What someone outside knows of a trail. All that lies in the bucket can be set back together to an earlier day, and is
 * then right in itself: only what was kept elsewhere tells.
 */
export type Anchor = {
  /** The hash of a digest that the trail had. */
  expect?: string | undefined
  /** Unix ms: the newest digest is not older. */
  asOf?: number | undefined
}

/** Holds the digests of a trail against an anchor, one by one. */
export type AnchorCheck = { take(digest: CheckedDigest): void; faults(): EvidenceFault[] }

/** A check against an anchor. Without one it finds nothing. */
export function createAnchorCheck({ expect, asOf }: Anchor): AnchorCheck {
  let found = false
  let newest: CheckedDigest | null = null
  return {
    take: (digest) => {
      found ||= digest.hash === expect
      newest = digest
    },
    faults: () => [
      ...(expect === undefined || found ? [] : [notFound(expect)]),
      ...(asOf === undefined || writtenAt(newest) >= asOf ? [] : [tooOld(newest, asOf)]),
    ],
  }
}

function writtenAt(digest: CheckedDigest | null): number {
  return digest ? Date.parse(digest.writtenAt) : Number.NEGATIVE_INFINITY
}

function notFound(expect: string): EvidenceFault {
  const message = `holds no digest with the hash ${expect}: the trail was set back, or is another one`
  return { kind: 'set_back', place: prefixOf('digests'), message }
}

function tooOld(newest: CheckedDigest | null, asOf: number): EvidenceFault {
  const time = new Date(asOf).toISOString()
  return newest
    ? {
        kind: 'set_back',
        place: newest.key,
        message: `is the newest digest, of ${newest.writtenAt}: older than ${time}`,
      }
    : { kind: 'set_back', place: prefixOf('digests'), message: `holds no digest, and so none as of ${time}` }
}
