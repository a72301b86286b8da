import * as z from 'zod'
import type { RulesInForce } from '../publish/ports.ts'
import { sessionMessages } from '../streams/session-messages.ts'

const ByName = z.record(z.string(), z.string())

function json<S extends z.ZodType>(schema: S) {
  return z
    .string()
    .default('{}')
    .transform((text) => JSON.parse(text) as unknown)
    .pipe(schema)
}

/**
 * What an installation chose to keep, for those who tell of it. Who applies it checks it (lib/compose/privacy.ts), and
 * comes first.
 */
export const RulesVariables = z.object({
  MESSAGES_CONTENT: z.string().optional(),
  MESSAGES_CONTENT_BY_ROLE: json(ByName),
  MESSAGES_ATTACHMENTS: z.string().optional(),
  PRIVACY_FIELDS: json(z.record(z.string(), ByName)),
})

/** The choices by stream: what becomes of fields, and of what is written in messages. Fields that are kept are not named. */
export function rulesInForce(env: z.output<typeof RulesVariables>): RulesInForce {
  const roles = Object.entries(env.MESSAGES_CONTENT_BY_ROLE).map(([role, choice]) => [`content of ${role}`, choice])
  const messages = {
    content: env.MESSAGES_CONTENT,
    ...Object.fromEntries(roles),
    attachments: env.MESSAGES_ATTACHMENTS,
    ...env.PRIVACY_FIELDS[sessionMessages.name],
  }
  const chosen = Object.entries({ ...env.PRIVACY_FIELDS, [sessionMessages.name]: messages }).map(
    ([stream, rules]) => [stream, rulesThatChange(rules)] as const,
  )
  return Object.fromEntries(chosen.filter(([, rules]) => Object.keys(rules).length > 0))
}

function rulesThatChange(rules: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isChange = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && entry[1] !== 'keep'
  return Object.fromEntries(Object.entries(rules).filter(isChange))
}
