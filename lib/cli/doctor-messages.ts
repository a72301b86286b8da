import type { SyncRoot } from '../compose/sync.ts'
import type { Variables } from '../core/env.ts'
import { messageOf } from '../core/errors.ts'
import { duration } from '../report/words.ts'
import { sessionMessages } from '../streams/session-messages.ts'
import type { Check } from './doctor-checks.ts'
import type { PublishedLake } from './lake-files.ts'
import { number } from './output.ts'

/** What is known of the sessions whose messages would be read. */
export type KnownSessions = { sessions: number; messages: number; requests: number }

/** What is assumed where nothing is configured or measured. */
const assumed = { requestsPerSecond: 10, secondsPerRequest: 0.1 }

/**
 * List prices in USD, us-east-1, November 2026: a write unit of DynamoDB, of which a message of 2 KB takes two, and a second of
 * a function with a whole processor (1,769 MB).
 */
const usd = { messageWritten: 2 * 0.625e-6, functionSecond: (1_769 / 1_024) * 1.33334e-5 }

/** How much a first read of all messages would be. */
export function firstRead({ messages, requests }: KnownSessions, requestsPerSecond = assumed.requestsPerSecond) {
  return {
    requests,
    seconds: requests / requestsPerSecond,
    usd: messages * usd.messageWritten + requests * assumed.secondsPerRequest * usd.functionSecond,
  }
}

/** Sessions of which nobody knows how many messages they have are a request each. */
const pageSize = sessionMessages.reading.pageSize as number
const knownSessions = `select count(*) as sessions, coalesce(sum(greatest(message_count, 0)), 0) as messages,
  coalesce(sum(greatest(ceil(coalesce(message_count, 0) / ${pageSize}.0), 1)), 0) as requests
from sessions_current`

/** Says whether messages are read, and how much it would be to read them all for the first time. */
export async function checkMessages(
  root: SyncRoot,
  { lake, variables }: { lake: PublishedLake; variables: Variables },
): Promise<Check> {
  const what = sessionMessages.name
  const isOn = root.streams.includes(sessionMessages)
  try {
    const known = await readKnown(lake)
    const state = isOn ? 'are read' : 'are not read (MESSAGES_ENABLED=true turns it on)'
    if (known.sessions === 0) return { what, state: 'info', detail: `${state}; how many there are shows after a sync` }
    const configured = Number(variables.PLATFORM_REQUESTS_PER_SECOND) || undefined
    return { what, state: 'info', detail: `${state}; ${estimateText(known, configured)}` }
  } catch (error) {
    return { what, state: 'warn', detail: `how many there are can't be told: ${messageOf(error)}` }
  }
}

/** The estimate in words, at the rate that is configured if one is. */
export function estimateText(known: KnownSessions, requestsPerSecond = assumed.requestsPerSecond): string {
  const { requests, seconds, usd } = firstRead(known, requestsPerSecond)
  const cost = usd < 0.01 ? 'less than 0.01' : `about ${usd.toFixed(2)}`
  const rate = `at ${number(requestsPerSecond)} a second`
  return (
    `a first read of the ${number(known.messages)} messages of ${number(known.sessions)} sessions is ${number(requests)} requests: ` +
    `${duration(seconds * 1000)} ${rate}, and ${cost} USD on AWS`
  )
}

async function readKnown(lake: PublishedLake): Promise<KnownSessions> {
  const { askLake } = await import('./lake-database.ts')
  const { rows } = await askLake(lake, knownSessions)
  const [sessions, messages, requests] = (rows[0] ?? []).map(Number)
  return { sessions: sessions ?? 0, messages: messages ?? 0, requests: requests ?? 0 }
}
