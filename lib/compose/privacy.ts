import * as z from 'zod'
import { messageRoles } from '../platform/schemas/message.ts'
import { fieldChoices } from '../redaction/personal/fields.ts'
import type { Privacy } from '../redaction/personal/protect.ts'
import { attachmentChoices, contentChoices, defaultContents } from '../redaction/personal/writing.ts'
import { whyNotChosen } from '../streams/field-rules.ts'
import { streamNamed, streams } from '../streams/index.ts'
import { shardsOf } from '../streams/shards.ts'

const contents = `must be one of ${contentChoices.join(', ')}`
const attachments = `must be one of ${attachmentChoices.join(', ')}`

/** Choices for what is written in one role, by role. */
export const ContentByRole = z.partialRecord(
  z.enum(messageRoles, `is no role; the roles are ${messageRoles.join(', ')}`),
  z.enum(contentChoices, contents),
)

/** Choices for fields, by stream and path: `{"organization_users": {"email": "hash"}}`. Checked against the streams. */
export const FieldChoices = z
  .record(z.string(), z.record(z.string(), z.enum(fieldChoices, `must be one of ${fieldChoices.join(', ')}`)))
  .superRefine((choices, context) => {
    for (const [name, fields] of Object.entries(choices)) {
      const stream = streams.find((each) => each.name === name)
      if (!stream) context.addIssue({ code: 'custom', path: [name], message: 'is no stream' })
      for (const [path, choice] of stream ? Object.entries(fields) : []) {
        const message = stream && whyNotChosen(stream, { path, choice })
        if (message) context.addIssue({ code: 'custom', path: [name, path], message })
      }
    }
  })

/** What is kept of what says something about people: the choices of an installation. */
export const PrivacyVariables = z.object({
  MESSAGES_CONTENT: z.enum(contentChoices, contents).default(defaultContents.content),
  MESSAGES_CONTENT_BY_ROLE: jsonOf(ContentByRole),
  MESSAGES_ATTACHMENTS: z.enum(attachmentChoices, attachments).default(defaultContents.attachments),
  PRIVACY_FIELDS: jsonOf(FieldChoices),
})

/** JSON text of an object, `{}` where it is absent. */
function jsonOf<S extends z.ZodType>(schema: S) {
  return z
    .string()
    .default('{}')
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown
      } catch {
        context.addIssue({ code: 'custom', message: 'is no JSON; write an object as docs/privacy.md shows' })
        return z.NEVER
      }
    })
    .pipe(schema)
}

/** The choices that the environment names. */
export function privacyOf(env: z.output<typeof PrivacyVariables>): Privacy {
  const roles = Object.fromEntries(Object.entries(env.MESSAGES_CONTENT_BY_ROLE))
  // A shard is a stream by its name, and what is chosen for the stream holds for each.
  const fields = Object.entries(env.PRIVACY_FIELDS).flatMap(([name, rules]) =>
    shardsOf(streamNamed(name)).map((shard) => [shard.name, rules] as const),
  )
  return {
    contents: { content: env.MESSAGES_CONTENT, roles, attachments: env.MESSAGES_ATTACHMENTS },
    fields: Object.fromEntries(fields),
  }
}
