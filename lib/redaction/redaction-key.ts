import type { Redactor } from './redact.ts'

const noPaths = { secretPaths: [] }

/** Names a redactor's key without telling it: fingerprints can only be compared under one key. 16 hex digits. */
export function redactionKeyOf({ redact }: Redactor): string {
  const { secret } = redact({ secret: 'agent-platform-sync redaction key' }, noPaths) as { secret: string }
  return secret.slice(-16)
}
