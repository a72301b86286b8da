import type { PublishState, RunRecord } from '../../../lib/publish/manifest.ts'
import type { Publications, Runs } from '../../../lib/publish/ports.ts'
import { isOvertaken } from '../../../lib/stores/runs.ts'
import { type Held, renew, take } from './checkpoints.ts'

/** The publisher's state in memory. */
export function createMemoryPublications(): Publications {
  const held: Held = { fence: 0, owner: null, expiresAt: 0 }
  let kept = JSON.stringify({ publishedAt: '', pending: null, behind: {} })
  const stateNow = () => JSON.parse(kept) as Omit<PublishState, 'fence'>
  return {
    acquire: async (claim) => {
      const taken = take(held, claim)
      return taken ?? { state: { fence: held.fence, ...stateNow() } }
    },
    save: async ({ fence, ...state }, lease) => {
      const text = JSON.stringify(state)
      renew(held, { ...lease, fence }, kept === text)
      kept = text
    },
    behind: async () => stateNow().behind,
  }
}

/** Run records in memory. */
export function createMemoryRuns(): Runs {
  const records = new Map<string, RunRecord>()
  return {
    write: async (record) => {
      const key = `${new Date(record.scheduledAt).toISOString()}#${record.runId}`
      if (!isOvertaken(record) || !records.has(key)) records.set(key, structuredClone(record))
    },
    read: async ({ scheduledAt, runId }) => records.get(`${new Date(scheduledAt).toISOString()}#${runId}`) ?? null,
    newestFirst: async function* () {
      for (const key of [...records.keys()].sort().reverse()) yield records.get(key) as RunRecord
    },
    between: async (from, until) =>
      [...records.entries()]
        .filter(([key]) => key >= new Date(from).toISOString() && key <= new Date(until).toISOString())
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, record]) => record),
    latest: async () => records.get([...records.keys()].sort().at(-1) ?? '') ?? null,
  }
}
