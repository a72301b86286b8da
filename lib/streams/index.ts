import { FatalError } from '../core/errors.ts'
import { computers } from './computers.ts'
import { enterpriseControlRevisions } from './enterprise-control-revisions.ts'
import { organizationUsers } from './organization-users.ts'
import { readinessReports } from './readiness-reports.ts'
import { sessions } from './sessions.ts'
import type { Stream } from './stream.ts'

/** Every stream, in the order of docs and reports. session_messages and hook_events will join here. */
export const streams: readonly Stream[] = [
  readinessReports,
  sessions,
  organizationUsers,
  enterpriseControlRevisions,
  computers,
]

/** The stream of a name. @throws FatalError `usage`, with the names there are. */
export function streamNamed(name: string): Stream {
  const found = streams.find((stream) => stream.name === name)
  if (found) return found
  const known = streams.map((stream) => stream.name).join(', ')
  throw new FatalError(`There is no stream "${name}". The streams are: ${known}.`, { code: 'usage' })
}
