import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { AwsVariables, RedactionVariables, readVariables, type Variables } from '../core/env.ts'
import { defaultPrivacy, privacyChoices } from '../hooks/collector/event-record.ts'
import type { StoreDeps } from '../hooks/collector/store.ts'
import { createProtector } from '../redaction/personal/protect.ts'
import { createRedactor } from '../redaction/redact.ts'
import { createHookClaims } from '../stores/hook-claims.ts'
import { createHookObjects } from '../stores/hook-objects.ts'
import { createSecretReader } from '../stores/secrets.ts'
import { createStorageClients } from '../stores/storage.ts'
import { PrivacyVariables, privacyOf } from './privacy.ts'
import { clockOf, cloudOf, type Runtime, targetOf } from './runtime.ts'

const choices = `must be one of ${privacyChoices.join(', ')}`

const StoreHooksVariables = AwsVariables.extend({
  ...RedactionVariables.shape,
  ...PrivacyVariables.shape,
  LAKE_BUCKET: z.string('is missing; set it to the name of the lake bucket (an output of the stateful stack)'),
  HOOKS_TABLE: z.string('is missing; set it to the name of the hooks table (an output of the stateful stack)'),
  HOOKS_CWD: z.enum(privacyChoices, choices).default(defaultPrivacy.cwd),
  HOOKS_HOST: z.enum(privacyChoices, choices).default(defaultPrivacy.host),
})

/**
 * Builds what writing collected events to the lake bucket needs. The key is read with the first batch, and once.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composeStoreHooks(variables: Variables, runtime: Runtime) {
  const env = readVariables(StoreHooksVariables, variables)
  const { dynamodb, s3, destroy } = runtime.clients ?? createStorageClients(targetOf(env, runtime))
  const readSecret = createSecretReader(cloudOf(env))
  const withKey = (key: string): StoreDeps => ({
    claims: createHookClaims({ dynamodb, table: env.HOOKS_TABLE }),
    objects: createHookObjects({ s3, bucket: env.LAKE_BUCKET }),
    redact: createProtector({ redactor: createRedactor(key), key, privacy: privacyOf(env) }),
    privacy: { cwd: env.HOOKS_CWD, host: env.HOOKS_HOST, key },
    newId: randomUUID,
    ...{ clock: clockOf(runtime), log: runtime.log, metrics: runtime.metrics },
  })
  let built: Promise<StoreDeps> | null = null
  const build = async () => withKey(env.REDACTION_KEY ?? (await readSecret(env.REDACTION_SECRET_ID as string)))
  return {
    /** What storing a batch needs. A key that could not be read is asked for again with the next batch. */
    storeDeps: (): Promise<StoreDeps> => {
      const building = built ?? build()
      built = building
      building.catch(() => {
        built = null
      })
      return building
    },
    close: destroy,
  }
}
