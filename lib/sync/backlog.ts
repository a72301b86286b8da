import { FatalError } from '../core/errors.ts'
import type { Waiting } from './ports.ts'

/** What waits for publish stands in the stream's item, beside all else; DynamoDB takes 400 KB of it. */
const mostBytes = 256 * 1024

/** @throws FatalError `publish_backlog` when one scan more would hardly find a place: nothing was published for days. */
export function requireRoom(stream: string, { scans, bytes, since }: Waiting): void {
  if (bytes < mostBytes || since === null) return
  throw new FatalError(
    `${stream}: nothing was published since ${new Date(since).toISOString()}. ${scans} scans wait for it, and their list is full. ` +
      'See why publishing fails: in the alarms publish-run-errors and run-failed, or in what "platform-sync sync" says at its end. ' +
      'Once it succeeds, all of them are published, and the next run reads on.',
    { code: 'publish_backlog' },
  )
}
