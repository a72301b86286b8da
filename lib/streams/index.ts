import { FatalError } from '../core/errors.ts'
import { computers } from './computers.ts'
import { creditLimitOutcomes } from './credit-limit-outcomes.ts'
import { enterpriseControlRevisions } from './enterprise-control-revisions.ts'
import { hookEvents } from './hook-events.ts'
import { organizationUsers } from './organization-users.ts'
import { readinessReports } from './readiness-reports.ts'
import { sessionMessages } from './session-messages.ts'
import { sessions } from './sessions.ts'
import { shardsOf } from './shards.ts'
import type { PlatformStream, Stream } from './stream.ts'

/** The streams that are one list of the platform each, in the order of docs and reports: what every sync reads. */
export const platformStreams: readonly PlatformStream[] = [
  readinessReports,
  sessions,
  organizationUsers,
  enterpriseControlRevisions,
  computers,
]

/** Every stream: what publish, catalog, docs and queries know. */
export const streams: readonly Stream[] = [...platformStreams, sessionMessages, creditLimitOutcomes, hookEvents]

/**
 * The streams as they are read and as their state is kept: in shards where there are lists per parent, and these only
 * where the messages of sessions are enabled. Whoever asks for the others looks at nothing that is not there.
 */
export function streamsAsRead({ messages }: { messages: boolean }): readonly Stream[] {
  return streams.flatMap((stream) => (stream.parent && !messages ? [] : shardsOf(stream)))
}

const byName = new Map(
  [...streams, ...streams.flatMap((stream) => shardsOf(stream))].map((stream) => [stream.name, stream]),
)

/** The stream of a name, which may be a shard's. @throws FatalError `usage`, with the names there are. */
export function streamNamed(name: string): Stream {
  const found = byName.get(name)
  if (found) return found
  const known = streams.map((stream) => stream.name).join(', ')
  throw new FatalError(`There is no stream "${name}". The streams are: ${known}.`, { code: 'usage' })
}

/** The stream of a name, as it is read. @throws FatalError `usage` for one that is read in shards: its state is theirs. */
export function unitNamed(name: string): Stream {
  const stream = streamNamed(name)
  const [first, second] = shardsOf(stream)
  if (second === undefined) return stream
  throw new FatalError(`${name} is read in shards: name those that are to be read, as ${first?.name}.`, {
    code: 'usage',
  })
}
