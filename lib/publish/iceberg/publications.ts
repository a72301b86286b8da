import type { PartFile } from '../../sync/checkpoint.ts'
import type { IcebergDeps } from './ports.ts'

/** A publication, with what a stream had in it. `at`: when it was made. */
export type PublishedScans = { at: string; runId: string; scanIds: readonly string[]; files: readonly PartFile[] }

/** All that was ever published of some streams, oldest first. */
export async function publishedBefore(
  feeding: ReadonlySet<string>,
  { history }: Pick<IcebergDeps, 'history'>,
): Promise<PublishedScans[]> {
  const files = (await history()).filter(({ stream, kind }) => feeding.has(stream) && kind === 'changes')
  const byTime = files.toSorted((a, b) => (a.publishedAt < b.publishedAt ? -1 : a.publishedAt > b.publishedAt ? 1 : 0))
  return [...Map.groupBy(byTime, ({ publishedAt }) => publishedAt)].map(([at, own]) => ({
    at,
    runId: own.at(-1)?.runId ?? '',
    scanIds: [...new Set(own.map(({ scanId }) => scanId))],
    files: own,
  }))
}
