import type { PolicyUser } from './rules.ts'

/** The users of a scan that is complete, not suspect and published. `key` changes with their records, and with nothing else. */
export type ScannedUsers = { scanId: string; key: string; read(): Promise<PolicyUser[]> }

/** The users of the organization, as the last scan left them. */
export type UsersSource = {
  /** The newest scan, or why there is none that a policy may go by. */
  newest(): Promise<ScannedUsers | { unusable: string }>
}
