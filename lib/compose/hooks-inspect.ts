import * as z from 'zod'
import { AwsVariables, HookTokenVariables, readVariables, type Variables } from '../core/env.ts'
import { tokensIn } from '../hooks/collector/tokens.ts'
import { messagesOn } from '../stores/limits-queue.ts'
import { createSecretReader } from '../stores/secrets.ts'
import { createSqs } from '../stores/sqs.ts'
import { cloudOf, type Runtime, targetOf } from './runtime.ts'

const CollectorVariables = AwsVariables.extend({
  HOOKS_ADDRESS: z.url('is no address; set it to that of the collector, without its path').optional(),
  HOOKS_QUEUE_URL: z.url().optional(),
  HOOKS_DEAD_LETTERS_URL: z.url().optional(),
})

/** The collector of hook events, as those see it who look whether it works. */
export type CollectorInspection = ReturnType<typeof composeHooksInspection>

/**
 * Builds what looking at the collector needs. Each part is null where it is not configured.
 * @throws FatalError `configuration` that names each variable that is malformed.
 */
export function composeHooksInspection(variables: Variables, runtime: Runtime) {
  const env = readVariables(CollectorVariables, variables)
  const hasTokens = Boolean(variables.HOOKS_TOKENS || variables.HOOKS_SECRET_ID)
  const sqs = createSqs(targetOf(env, runtime))
  const countOn = (url: string | undefined) => (url === undefined ? null : () => messagesOn(sqs, url))
  const readTokens = async () => {
    const { HOOKS_TOKENS: text, HOOKS_SECRET_ID: id = '' } = readVariables(HookTokenVariables, variables)
    return tokensIn(text ?? (await createSecretReader(cloudOf(env))(id)))
  }
  return {
    address: env.HOOKS_ADDRESS ?? null,
    tokens: hasTokens ? readTokens : null,
    waiting: countOn(env.HOOKS_QUEUE_URL),
    deadLetters: countOn(env.HOOKS_DEAD_LETTERS_URL),
    close: () => sqs.destroy(),
  }
}
