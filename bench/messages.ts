import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mallocOptions, nodeOptions, wholeProcessor } from '../infra/constructs/worker-function.ts'
import { buildInto } from './build.ts'
import type { MessagesAnswer, MessagesQuestion } from './messages-worker.ts'
import { ask, serve } from './processes.ts'
import { tableOfProfiles } from './profile.ts'
import type { MessagesPlatform, MessagesPlatformAnswer } from './serve-messages.ts'
import type { Stores } from './serve-stores.ts'

/** A size: sessions, their messages on average, and how many shards at a time are tried for their speed. */
export type MessagesSize = { sessions: number; messagesPerSession: number; atOnce: readonly number[] }

/** A night, and how many lists of messages the platform was asked for in it. */
export type Night = MessagesAnswer & { asked: number }

/** What was measured of a size. */
export type MessagesMeasured = {
  platform: MessagesPlatformAnswer
  /** First reads, by how many shards were read at a time. */
  speeds: Map<number, MessagesAnswer>
  /** A first read of one shard after the other, as by one worker on AWS, at no latency. */
  worker: MessagesAnswer
  /** Nights after it: one in which nothing changed, and one in which a share of the sessions did. */
  unchanged: Night
  changed: Night
}

/** The latency of the platform where time is measured, and the share of sessions that change. */
export const latencyMs = 20
export const changedShare = 0.05
const shardsByDefault = 4

/** Reads the messages of a size: in installations of their own by number of shards at a time, and in one for a first read and two nights. */
export async function measureMessages(size: MessagesSize, profile: boolean): Promise<MessagesMeasured> {
  const { sessions, messagesPerSession } = size
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const wanted: MessagesPlatform = { dir, sessions, messagesPerSession, changedShare }
  const served = await serve<MessagesPlatformAnswer>('serve-messages.ts', wanted)
  try {
    const platform = served.answer
    const worker = await buildInto(dir, 'messages-worker')
    const bench = { dir, platform: platform.address, worker, profile }
    const speeds = new Map<number, MessagesAnswer>()
    for (const atOnce of size.atOnce) {
      speeds.set(atOnce, await inNewInstallation(bench, `${atOnce}`, (read) => read({ latencyMs, atOnce })))
    }
    return { platform, speeds, ...(await inNewInstallation(bench, 'nights', nights)) }
  } finally {
    await served.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

type Bench = { dir: string; platform: string; worker: string; profile: boolean }
type Reading = { state?: 0 | 1; latencyMs: number; atOnce: number; isNight?: true }
type Read = (reading: Reading) => Promise<Night>

async function nights(read: Read): Promise<Pick<MessagesMeasured, 'worker' | 'unchanged' | 'changed'>> {
  const night = { latencyMs, atOnce: shardsByDefault, isNight: true } as const
  return {
    worker: await read({ latencyMs: 0, atOnce: 1 }),
    unchanged: await read(night),
    changed: await read({ ...night, state: 1 }),
  }
}

/** An installation that has read its sessions, and whose messages are to be read. */
async function inNewInstallation<T>(bench: Bench, name: string, work: (read: Read) => Promise<T>): Promise<T> {
  const dir = join(bench.dir, name)
  await mkdir(dir)
  const stores = await serve<{ environment: Record<string, string> }>('serve-stores.ts', {
    dir,
    keeps: 'sessions',
  } satisfies Stores)
  const read = reader(bench, stores.answer.environment)
  try {
    await read(['sessions'], { latencyMs: 0, atOnce: 1 })
    return await work((reading) => read([...(reading.isNight ? ['sessions'] : []), 'session_messages'], reading))
  } finally {
    await stores.stop()
  }
}

/** Reads streams in a process of its own, and says what is known so far: the large size takes an hour. */
function reader({ dir, platform, worker, profile }: Bench, environment: Record<string, string>) {
  const asked = async () => (await (await fetch(`${platform}/asked`)).json()) as number
  return async (streams: string[], reading: Reading): Promise<Night> => {
    const address = `${platform}/${reading.state ?? 0}/${reading.latencyMs}`
    const variables = {
      ...environment,
      ...{ PLATFORM_APP_URL: address, PLATFORM_BASE_URL: address, PLATFORM_API_KEY: 'sim-key' },
      ...{ MESSAGES_ENABLED: 'true', MESSAGES_CONCURRENCY: `${reading.atOnce}` },
      REDACTION_KEY: 'a key of the benchmark, long enough',
    }
    const before = await asked()
    const profiles = await mkdtemp(join(dir, 'profile-'))
    const options = profile ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`] : []
    const question: MessagesQuestion = { variables, streams }
    const execArgv = [...nodeOptions(wholeProcessor), ...options]
    const answer = await ask<MessagesAnswer>(worker, question, { execArgv, env: mallocOptions })
    const night = { ...answer, asked: (await asked()) - before }
    process.stderr.write(`  ${streams.join(', ')} ${JSON.stringify({ ...reading, ...night })}\n`)
    if (profile) process.stderr.write(`${await tableOfProfiles(profiles, worker)}\n`)
    return night
  }
}
