import { createObserver } from '../support/worlds/observe.ts'
import { createReader } from './contents.ts'
import { type Day, liveThroughDay } from './day.ts'
import { type Figures, figuresOf, growthBroken } from './figures.ts'
import { type Fault, type Plan, plansOf, type SoakLength } from './plan.ts'
import { faultsOfLake } from './promise-lake.ts'
import { limitsThatWentBack, outcomesMissing, outsideOfPolicy } from './promise-limits.ts'
import { differencesFromPlatform } from './promise-lists.ts'
import { faultsOfTrail, secretsTold } from './promise-trail.ts'
import { startWorld, type World } from './world.ts'

/** What to live through. */
export type SoakOptions = SoakLength & {
  /** Ends the soak after the night that it is in. */
  stop?: AbortSignal
  /** Told of each night as it ends. */
  onNight?: (day: Day, figures: Figures) => void
}

/** What a soak came to. */
export type Soaked = { figures: Figures[]; struck: Map<Fault['kind'], number> }

/** The first day of each soak. */
const start = Date.UTC(2026, 0, 1)
/** Every so many nights all that was ever published is read. */
const lakeEvery = 10

/**
 * Lives through nights, and holds each against the promises.
 * @throws Error that names the seed, the night, its plan and what is broken.
 */
export async function soak({ onNight = () => {}, stop, ...length }: SoakOptions): Promise<Soaked> {
  const { seed, nights } = length
  const world = await startWorld({ seed, start })
  const observer = await createObserver()
  const reader = createReader(world)
  const soaked: Soaked = { figures: [], struck: new Map() }
  try {
    for (const plan of plansOf(length)) {
      if (stop?.aborted) return soaked
      const day = await lived(world, plan, seed)
      const stored = await reader.read()
      const isWhole = day.broken.length === 0
      const lake = isWhole && (plan.night % lakeEvery === 0 || plan.night === nights)
      soaked.figures.push(figuresOf(day, stored))
      const broken = [
        ...(isWhole || mayBreak(plan) ? [] : day.broken),
        ...limitsThatWentBack(world),
        ...(await secretsTold(world, stored)),
        ...(await faultsOfTrail(world, stored, { isWhole })),
        ...outcomesMissing(stored, world),
        ...(isWhole
          ? [...(await differencesFromPlatform(world, stored, plan)), ...(await outsideOfPolicy(world))]
          : []),
        ...(lake ? await faultsOfLake(world, stored, observer) : []),
        ...growthBroken(soaked.figures),
      ]
      if (broken.length > 0) throw failure(day, { seed, broken })
      for (const kind of kindsOf(day)) soaked.struck.set(kind, (soaked.struck.get(kind) ?? 0) + 1)
      onNight(day, soaked.figures.at(-1)!)
    }
    return soaked
  } finally {
    observer.close()
    await world.close()
  }
}

async function lived(world: World, plan: Plan, seed: number): Promise<Day> {
  try {
    return await liveThroughDay(world, plan, { seed, start })
  } catch (error) {
    const day = { plan, broken: [], struck: [], calls: { night: 0, idle: null }, policy: '' }
    throw failure(day, { seed, broken: [String((error as Error).stack)] })
  }
}

/** The faults that came about: a call that a job did not have was not struck. */
function kindsOf({ plan, struck }: Day): Fault['kind'][] {
  const isStrike = (fault: Fault) => 'job' in fault || 'at' in fault
  const kinds = plan.faults.filter((fault) => !isStrike(fault)).map(({ kind }) => kind)
  return [
    ...kinds,
    ...plan.faults.filter(isStrike).flatMap(({ kind }) => (struck.some((line) => line.startsWith(kind)) ? kind : [])),
  ]
}

/** Nights that no worker could have made whole. */
function mayBreak({ faults }: Plan): boolean {
  return faults.some(({ kind }) => kind === 'broken night' || kind === 'publish fails')
}

const most = 12

function failure({ plan, struck }: Day, { seed, broken }: { seed: number; broken: string[] }): Error {
  const lines = [
    `A promise is broken in night ${plan.night} of seed ${seed}. To see it again: npm run soak -- --nights ${plan.night} --seed ${seed}`,
    `planned: ${JSON.stringify(plan)}`,
    ...struck.map((line) => `struck: ${line}`),
    ...broken.slice(0, most).map((line) => `broken: ${line}`),
  ]
  return new Error(lines.join('\n'))
}
