import type { Arrival, NightFacts, StreamNight } from './facts.ts'
import { whyNothing } from './look.ts'

/** The answer to "Is the data in?" in one sentence, and whether it is a good one. */
export type Verdict = { isGood: boolean; text: string }

/** What each arrival is called. */
export const arrivalWords = {
  in: 'in',
  late: 'late',
  trouble: 'in trouble',
  missing: 'not in yet',
  unused: 'not read',
} as const satisfies Record<Arrival, string>

/** Answers whether the data is in. Streams that nobody reads don't count. */
export function verdictOf({ look, streams }: Pick<NightFacts, 'look' | 'streams'>): Verdict {
  const nothing = whyNothing(look)
  if (nothing !== null) return { isGood: false, text: nothing }
  const wanted = streams.filter(({ arrival }) => arrival !== 'unused')
  const out = wanted.filter(({ arrival }) => arrival !== 'in')
  const all = wanted.length === 1 ? 'The one stream that is read is in.' : `All ${wanted.length} streams are in.`
  if (out.length === 0) return { isGood: true, text: `Yes. ${all}` }
  const names = out.map(nameOf).join(', ')
  return {
    isGood: false,
    text: `No. Of ${wanted.length} streams ${out.length} ${out.length === 1 ? 'is' : 'are'} not in: ${names}.`,
  }
}

function nameOf({ stream, arrival, status }: StreamNight): string {
  return `${stream} (${arrival === 'trouble' ? status : arrivalWords[arrival]})`
}
