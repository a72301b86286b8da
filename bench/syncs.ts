import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mallocOptions, nodeOptions, wholeProcessor } from '../infra/constructs/worker-function.ts'
import type { Cost } from './bare-loop.ts'
import { buildInto } from './build.ts'
import { ask, serve } from './processes.ts'
import { tableOfProfiles } from './profile.ts'
import type { Platform, PlatformAddresses } from './serve-pages.ts'
import type { WorkerAnswer } from './worker.ts'

/** The syncs of one installation, one after the other. */
export const syncs = ['first', 'unchanged', 'changed'] as const
export type SyncName = (typeof syncs)[number]

/** One round: the bare loop, the syncs of a new installation, the bare loop again. */
export type Round = { bare: [Cost, Cost] } & Record<SyncName, WorkerAnswer>

/** What to measure; with `profile` each sync leaves a table of self time by module. */
export type Measuring = Pick<Platform, 'sessions' | 'latencyMs' | 'isGzip'> & { rounds: number; profile: boolean }

const changedShare = 0.05

/** Measures the worker, built as on AWS and in a process of its own, beside the bare loop over the same pages. */
export async function measureSyncs({ rounds, profile, ...wanted }: Measuring): Promise<Round[]> {
  return onPlatform(wanted, async (place) => {
    const found: Round[] = []
    for (let n = 0; n < rounds; n++) {
      found.push(await measureRound({ ...place, dir: join(place.dir, `round-${n}`), profile }))
    }
    return found
  })
}

/** Where rounds take place: a folder that is removed afterwards, what was built, the platform in its two states. */
export type Place = { dir: string; files: { bare: string; worker: string }; addresses: PlatformAddresses }

/** Serves the pages of a platform while something is measured. */
export async function onPlatform<A>(
  wanted: Omit<Platform, 'dir' | 'changedShare'>,
  measure: (place: Place) => Promise<A>,
): Promise<A> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const platform = await serve<PlatformAddresses>('serve-pages.ts', { dir, changedShare, ...wanted } satisfies Platform)
  try {
    const files = { bare: await buildInto(dir, 'bare-loop'), worker: await buildInto(dir, 'worker') }
    return await measure({ dir, files, addresses: platform.answer })
  } finally {
    await platform.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

/** Measures one new installation; `dir` is a folder that is not there yet. */
export async function measureRound({ dir, files, addresses, profile }: Place & { profile: boolean }): Promise<Round> {
  await mkdir(dir)
  const stores = await serve<{ environment: Record<string, string> }>('serve-stores.ts', { dir })
  const sync = async (name: SyncName): Promise<WorkerAnswer> => {
    const profiles = join(dir, `profile-${name}`)
    const options = profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []
    const variables = {
      ...stores.answer.environment,
      PLATFORM_APP_URL: addresses[0],
      PLATFORM_BASE_URL: addresses[name === 'changed' ? 1 : 0],
      PLATFORM_API_KEY: 'sim-key',
      REDACTION_KEY: 'a key of the benchmark, long enough',
    }
    const execArgv = [...nodeOptions(wholeProcessor), ...options]
    const answer = await ask<WorkerAnswer>(files.worker, variables, { execArgv, env: mallocOptions })
    if (profile) process.stderr.write(`${name}\n${await tableOfProfiles(profiles, files.worker)}\n`)
    return answer
  }
  const bare = () => ask<Cost>(files.bare, { baseUrl: addresses[0] })
  try {
    const before = await bare()
    const [first, unchanged, changed] = [await sync('first'), await sync('unchanged'), await sync('changed')]
    return { bare: [before, await bare()], first, unchanged, changed }
  } finally {
    await stores.stop()
  }
}
