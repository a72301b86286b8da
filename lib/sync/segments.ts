import type { Segment } from './checkpoint.ts'

/** The parts of a scan with one more, which the attempt of a fence writes. */
export function withOnePart(segments: Segment[], fence: number): Segment[] {
  const last = segments.at(-1)
  return last?.fence === fence
    ? [...segments.slice(0, -1), { fence, parts: last.parts + 1 }]
    : [...segments, { fence, parts: 1 }]
}

/** How many parts there are. */
export function partsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { parts }) => sum + parts, 0)
}
