import { join } from 'node:path'

/** The file of a folder that holds the key which signs digests of the audit trail. */
export const signingKeyFile = 'audit-signing-key.pem'

/** Digests are signed with a key in the folder, whatever key the surroundings name. */
export function localSigning(folder: string): Record<string, string> {
  return {
    AUDIT_SIGNING_KEY_ARN: '',
    AUDIT_SIGNING_KEY_FILE: join(folder, signingKeyFile),
  }
}
