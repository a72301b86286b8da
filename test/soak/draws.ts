import { hash32 } from '../../lib/local/simulator/random.ts'

/** Draws that follow from a seed, a night and a purpose alone, so that a night can be drawn again without those before it. */
export type Draws = {
  /** A number from 0 up to but not including 1. */
  unit(): number
  /** A whole number from 0 up to but not including `end`. */
  below(end: number): number
  pick<T>(items: readonly T[]): T
  /** Whether something of this probability happens. */
  happens(probability: number): boolean
}

/** The draws of one night for one purpose. */
export function drawsOf(seed: number, night: number, purpose: string): Draws {
  const key = [...purpose].reduce((sum, letter) => hash32(sum, letter.charCodeAt(0)), hash32(seed, night))
  let turn = 0
  const unit = () => hash32(key, ++turn) / 4_294_967_296
  const below = (end: number) => Math.floor(unit() * end)
  return {
    unit,
    below,
    pick: (items) => items[below(items.length)]!,
    happens: (probability) => unit() < probability,
  }
}
