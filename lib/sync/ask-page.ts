import { SyncError } from '../core/errors.ts'
import type { SourcePage } from './ports.ts'

/** A page to ask for. */
export type Asking = {
  /** The size that is asked for first: the declared one, or the one that worked before. Null: the list comes whole. */
  pageSize: number | null
  fetch: (pageSize: number | null) => Promise<SourcePage>
  /** Whether there is time for another request. */
  hasTime: () => boolean
  /** Hears of each smaller size, before it is tried. */
  onSmaller: (pageSize: number, failure: SyncError) => void
}

/** Asks for a page; what is too heavy is asked for again in halves, down to one record. Answers the size that worked, too. */
export async function askForPage(asking: Asking): Promise<{ page: SourcePage; pageSize: number | null }> {
  for (let { pageSize } = asking; ; ) {
    try {
      return { page: await asking.fetch(pageSize), pageSize }
    } catch (error) {
      if (!isTooHeavy(error) || pageSize === null || pageSize <= 1 || !asking.hasTime()) throw error
      pageSize = Math.floor(pageSize / 2)
      asking.onSmaller(pageSize, error)
    }
  }
}

/** What stands in front of a server says so when the server takes too long; 524 is a proxy's of its own. */
const tookTooLong = new Set([502, 504, 524])

/** Whether smaller pages may help. The source has repeated such a request by itself: what still fails may be more than the platform can do at once. */
export function isTooHeavy(error: unknown): error is SyncError {
  if (!(error instanceof SyncError)) return false
  if (error.code === 'timeout' || error.code === 'too_large') return true
  return error.code === 'server_error' && tookTooLong.has(error.status ?? 0)
}
