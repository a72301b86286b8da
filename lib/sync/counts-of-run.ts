import { Counts } from './checkpoint.ts'
import type { ScanContext } from './context.ts'

/** What a run asked and received of what its scan has counted. */
export function countsOfRun(counts: Counts, { scan: { takenUp } }: ScanContext): Counts {
  const { invalid: before, ...numbers } = takenUp.counts
  const { invalid, ...now } = counts
  // A record may turn from unchanged to updated in a later run: none has less than nothing of anything.
  const since = (key: keyof typeof numbers) => Math.max(0, now[key] - numbers[key])
  const names = Object.keys(now) as (keyof typeof numbers)[]
  const fields = Object.entries(invalid).map(([field, count]) => [field, count - (before[field] ?? 0)] as const)
  return Counts.parse({
    ...Object.fromEntries(names.map((name) => [name, since(name)])),
    invalid: Object.fromEntries(fields.filter(([, count]) => count > 0)),
  })
}
