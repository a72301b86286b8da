import * as z from 'zod'
import { AwsVariables, readVariables, type Variables } from '../core/env.ts'
import { defaultRules, type LimitRules } from '../limits/entries.ts'
import { createDynamoDb } from '../stores/dynamodb.ts'
import { ledgerParts } from '../stores/ledger.ts'
import { createSqs } from '../stores/sqs.ts'
import { clockOf, type QueueRuntime, targetOf } from './runtime.ts'

function count(what: string) {
  return z.coerce.number().int().min(0, `must be ${what}`).max(Number.MAX_SAFE_INTEGER)
}

/** The variables that everything about credit limits reads. */
const LimitsVariables = AwsVariables.extend({
  LIMITS_TABLE: z.string('is missing; set it to the name of the limits table (an output of the stateful stack)'),
  LIMITS_QUEUE_URL: z.url('is missing; set it to the address of the limits queue (an output of the stateful stack)'),
  LIMITS_DEAD_LETTERS_URL: z.url().optional(),
  LIMITS_MAX_LIMIT: count('the largest limit that may be set').default(defaultRules.maxLimit),
  LIMITS_MAX_CHANGES: count('the most changes that one file may make').default(defaultRules.maxChanges),
})

/**
 * Opens what setting limits and asking for them share: the ledger, the queue and the rules.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function openLimits(variables: Variables, runtime: QueueRuntime) {
  const env = readVariables(LimitsVariables, variables)
  const target = targetOf(env, runtime)
  const clock = clockOf(runtime)
  const dynamodb = runtime.clients?.dynamodb ?? createDynamoDb(target)
  const sqs = runtime.sqs ?? createSqs(target)
  const rules: LimitRules = { maxLimit: env.LIMITS_MAX_LIMIT, maxChanges: env.LIMITS_MAX_CHANGES }
  return {
    dynamodb,
    sqs,
    queueUrl: env.LIMITS_QUEUE_URL,
    deadLettersUrl: env.LIMITS_DEAD_LETTERS_URL,
    parts: ledgerParts({ dynamodb, table: env.LIMITS_TABLE, clock, random: Math.random }),
    rules,
    clock,
    close: () => {
      dynamodb.destroy()
      sqs.destroy()
    },
  }
}
