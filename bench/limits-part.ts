import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LimitsAnswer } from './limits-worker.ts'
import { ask, serve } from './processes.ts'

/** Times of the same limits set by bare PUTs and by the worker, in turn. */
export type LimitsTimes = { bareSeconds: number[]; worker: LimitsAnswer[] }

/** Sets limits of `users` people at a latency, so many times each way; every process is one of its own. */
export async function limitsTimes({ users, latencyMs, times }: Record<'users' | 'latencyMs' | 'times', number>) {
  const dir = await mkdtemp(join(tmpdir(), 'bench-'))
  const platform = await serve<{ appUrl: string; baseUrl: string }>('serve-simulator.ts', {
    latencyMs,
    counts: { users },
  })
  const stores = await serve<{ environment: Record<string, string> }>('serve-stores.ts', { dir })
  const { appUrl, baseUrl } = platform.answer
  const variables = {
    ...stores.answer.environment,
    PLATFORM_APP_URL: appUrl,
    PLATFORM_BASE_URL: baseUrl,
    PLATFORM_API_KEY: 'sim-key',
  }
  const found: LimitsTimes = { bareSeconds: [], worker: [] }
  try {
    const emails = await emailsOf(baseUrl)
    for (let i = 1; i <= times; i++) {
      const bare = await ask<{ seconds: number }>('bare-puts.ts', { baseUrl, emails })
      found.bareSeconds.push(bare.seconds)
      found.worker.push(await ask<LimitsAnswer>('limits-worker.ts', { variables, emails, limit: 1_000 + i }))
    }
    return found
  } finally {
    await platform.stop()
    await stores.stop()
    await rm(dir, { recursive: true, force: true })
  }
}

async function emailsOf(baseUrl: string): Promise<string[]> {
  const emails: string[] = []
  for (let cursor: string | null = null, more = true; more; ) {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${baseUrl}/api/v0/organization/users?limit=100${query}`, {
      headers: { authorization: 'Bearer sim-key' },
    })
    const page = (await response.json()) as {
      users: { email: string | null }[]
      pagination: { hasMore: boolean; nextCursor: string }
    }
    for (const { email } of page.users) if (email) emails.push(email)
    cursor = page.pagination.nextCursor
    more = page.pagination.hasMore
  }
  return emails
}
