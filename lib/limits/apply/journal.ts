import * as z from 'zod'
import { FatalError } from '../../core/errors.ts'
import { identityOf } from '../email.ts'
import type { Sending } from '../ports.ts'

/** The journal's text: requests once, then [request, address, limit], since 1,000 entries must fit one item. */
const Journal = z.object({
  requests: z.array(z.tuple([z.string(), z.string()])),
  entries: z.array(z.tuple([z.int(), z.string(), z.int()])),
})

/** What a worker is about to send, as the text of an item. */
export function journalText(sending: readonly Sending[]): string {
  const numbers = new Map<string, number>()
  const requests: [string, string][] = []
  const entries = sending.map(({ order, requestId, address, limit }) => {
    let number = numbers.get(order)
    if (number === undefined) {
      number = requests.length
      numbers.set(order, number)
      requests.push([order, requestId])
    }
    return [number, address, limit]
  })
  return JSON.stringify({ requests, entries })
}

/** @throws FatalError `damaged_state` */
export function readJournal(text: string | null): Sending[] {
  if (text === null) return []
  try {
    const { requests, entries } = Journal.parse(JSON.parse(text))
    return entries.map(([number, address, limit]) => {
      const [order, requestId] = requests[number]!
      return { identity: identityOf(address), address, limit, order, requestId }
    })
  } catch (cause) {
    throw new FatalError(
      'The journal of the limits table is damaged: remove its item worker/lease, and plan all limits anew.',
      {
        code: 'damaged_state',
        cause,
      },
    )
  }
}
