import { readDigest } from './digest.ts'
import type { ChainHeads } from './head.ts'
import { range } from './read-ahead.ts'
import type { Trail } from './trail.ts'

/**
 * The number of entries that the first look at the platform's list brought: what the first digest of any entries covers,
 * since each complete scan signs one. All, while there is none. What they tell is history; what comes later is news.
 */
export async function entriesOfFirstLook(trail: Trail, heads: ChainHeads): Promise<number> {
  for (const at of range(1, heads.digests.sequence)) {
    const covered = (await readDigest(trail, at))?.head.entries.sequence ?? 0
    if (covered > 0) return covered
  }
  return heads.entries.sequence
}
