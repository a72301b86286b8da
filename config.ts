import type { ConfigInput } from './infra/config.ts'

/**
 * What this installation chooses; infra/config.ts lists every value with its default. `-c appUrl=... -c baseUrl=...
 * -c secretName=... -c name=...` on the command line take precedence.
 */
export const config = {
  // A deployment with credentials for another account or region stops.
  // account: '123456789012',
  // region: 'eu-central-1',
  platform: {
    // The base address of the readiness reports.
    appUrl: '',
    // The base address of the v0 endpoints.
    baseUrl: '',
    // The Secrets Manager secret that holds the API key (docs/operations.md says how to create it).
    secretName: 'platform-sync/api-key',
  },
} satisfies ConfigInput
