import { FatalError } from '../core/errors.ts'
import { computers } from './computers.ts'
import { creditLimitOutcomes } from './credit-limit-outcomes.ts'
import { enterpriseControlRevisions } from './enterprise-control-revisions.ts'
import { hookEvents } from './hook-events.ts'
import { organizationUsers } from './organization-users.ts'
import { readinessReports } from './readiness-reports.ts'
import { sessions } from './sessions.ts'
import type { PlatformStream, Stream } from './stream.ts'

/** The streams that are lists of the platform, in the order of docs and reports: what a sync reads. */
export const platformStreams: readonly PlatformStream[] = [
  readinessReports,
  sessions,
  organizationUsers,
  enterpriseControlRevisions,
  computers,
]

/** Every stream: what publish, catalog, docs and queries know. */
export const streams: readonly Stream[] = [...platformStreams, creditLimitOutcomes, hookEvents]

/** The stream of a name. @throws FatalError `usage`, with the names there are. */
export function streamNamed(name: string): Stream {
  const found = streams.find((stream) => stream.name === name)
  if (found) return found
  const known = streams.map((stream) => stream.name).join(', ')
  throw new FatalError(`There is no stream "${name}". The streams are: ${known}.`, { code: 'usage' })
}
