import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeOptions } from '../infra/constructs/worker-function.ts'
import { ask, serve } from './processes.ts'
import type { WorkerAnswer } from './worker.ts'

/** What a world of its own can be asked: sessions on a platform, emulators that know nothing yet. */
export type World = {
  sync(): Promise<WorkerAnswer>
  bareLoop(): Promise<{ records: number; seconds: number }>
}

/** Runs `work` in a world with so many sessions; platform, emulators and worker are processes of their own. */
export async function inWorld<T>(
  { sessions, latencyMs }: { sessions: number; latencyMs: number },
  work: (world: World) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const platform = await serve<{ appUrl: string; baseUrl: string }>('serve-simulator.ts', {
    latencyMs,
    counts: { sessions },
  })
  const aws = await serve<{ environment: Record<string, string> }>('serve-emulators.ts', { dir })
  const variables = {
    ...aws.answer.environment,
    PLATFORM_APP_URL: platform.answer.appUrl,
    PLATFORM_BASE_URL: platform.answer.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    REDACTION_KEY: 'a key of the benchmark, long enough',
  }
  try {
    return await work({
      sync: () => ask<WorkerAnswer>('worker.ts', variables, nodeOptions),
      bareLoop: () => ask('bare-loop.ts', { baseUrl: platform.answer.baseUrl }),
    })
  } finally {
    await platform.stop()
    await aws.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
