import { hash32, permute, unit } from './random.ts'

/** The platform's clock: the Unix ms of each step it was moved to; the last one is now. */
export type Clock = { readonly times: number[] }

/** Shares of a resource's records that change, appear and go with each step of the clock (0.05 is 5 %). */
export type Rates = { changed: number; added: number; removed: number }

/** Lists in the order of creation, or in an order that only the seed knows. */
export type Order = 'created' | 'shuffled'

/** What is known of one live record at this step, before its contents are made. */
export type Life = {
  /** Its place in the list; never moves. */
  readonly position: number
  /** How many were created before it. */
  readonly age: number
  /** The source of its random draws. */
  readonly key: number
  readonly createdAt: number
  /** How often it changed since it was created. */
  readonly version: number
  /** When it last changed; `createdAt` for one that never did. */
  readonly changedAt: number
}

/** The records of a resource as a function of position and step: nothing is held. */
export type Population = {
  /** Positions run from 0 to this, with holes. */
  positions(): number
  /** The record at a position, if one lives there now. */
  at(position: number): Life | undefined
  /** When the record at a position changed, in order: as many moments as its version. */
  changesAt(position: number): number[]
  /** How many were ever created. */
  created(): number
}

type Options = { key: number; count: number; rates: Rates; order: Order; clock: Clock }

const spanMs = 180 * 24 * 3_600_000

/** Makes the population of one resource. */
export function createPopulation({ key, count, rates, order, clock }: Options): Population {
  const perStep = rates.added > 0 ? Math.max(1, Math.round(count * rates.added)) : 0
  // Room for as many again as there are: records that appear later land anywhere among the old ones.
  const bits = order === 'shuffled' ? Math.max(2, Math.ceil(Math.log2(count * 1.25 + 8))) : 0
  const shuffled = order === 'shuffled' ? 2 ** bits : 0
  const survival = Math.log(1 - Math.min(rates.removed, 0.999_999))
  const step = () => clock.times.length - 1
  const created = () => count + perStep * step()

  const bornAt = (age: number): { step: number; ms: number } => {
    const start = clock.times[0] as number
    if (age < count) return { step: 0, ms: Math.floor(start - spanMs * (1 - (age + 0.5) / count)) }
    const born = 1 + Math.floor((age - count) / perStep)
    const share = (((age - count) % perStep) + 0.5) / perStep
    return { step: born, ms: momentIn(clock, born, share) }
  }

  const at = (position: number): Life | undefined => {
    const age = position < shuffled ? permute(key, bits, position) : position
    if (age >= created()) return undefined
    const own = hash32(key, age)
    const born = bornAt(age)
    // How long it lives is drawn at once, instead of a draw for each step.
    if (survival < 0 && born.step + Math.max(1, Math.ceil(Math.log(1 - unit(own, 1)) / survival)) <= step())
      return undefined
    let version = 0
    let changedAt = born.ms
    for (let turn = born.step + 1; rates.changed > 0 && turn <= step(); turn += 1) {
      if (unit(own, 2, turn) >= rates.changed) continue
      version += 1
      changedAt = momentIn(clock, turn, unit(own, 3, turn))
    }
    return { position, age, key: own, createdAt: born.ms, version, changedAt }
  }
  const changesAt = (position: number): number[] => {
    const life = at(position)
    const moments: number[] = []
    for (let turn = 1; life && moments.length < life.version && turn <= step(); turn += 1) {
      if (turn <= bornAt(life.age).step || unit(life.key, 2, turn) >= rates.changed) continue
      moments.push(momentIn(clock, turn, unit(life.key, 3, turn)))
    }
    return moments
  }

  return { at, changesAt, created, positions: () => Math.max(shuffled, created()) }
}

function momentIn({ times }: Clock, step: number, share: number): number {
  const from = times[step - 1] as number
  return Math.floor(from + ((times[step] as number) - from) * (0.01 + share * 0.98))
}
