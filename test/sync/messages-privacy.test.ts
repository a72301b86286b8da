import { describe, expect, it } from 'vitest'
import type { Json } from '../../lib/core/json.ts'
import type { Log } from '../../lib/core/log.ts'
import { messageRoles } from '../../lib/platform/schemas/message.ts'
import { createProtector } from '../../lib/redaction/personal/protect.ts'
import { type ContentRules, defaultContents } from '../../lib/redaction/personal/writing.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { createConversations, message, type Text } from './support/conversations.ts'
import { nested } from './support/source.ts'
import { createWorld } from './support/world.ts'

const words = 'Erika-Mustermann wohnt in Köln'
const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
const said = `${words}; her token is ${secret}`
const file = Buffer.from(`${words} `.repeat(30)).toString('base64')

/** Messages that hold what was said in every place that could hold it, odd ones and such as no table takes included. */
const planted: Text[] = [
  ...messageRoles.map((role) =>
    message(`m-${role}`, {
      role,
      content: [
        { type: 'text', text: said },
        { type: 'tool_use', input: { [words]: said, phone: 49_221 } },
        { type: words, [words]: said, nested: [[{ text: said }]] },
        { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: file } },
        said,
        [said],
      ],
      vendorReasoningSummary: said,
      chatCompletionReasoningContent: said,
      vendorEncryptedContent: said,
      altVendorThoughtSignature: said,
      fieldOfTomorrow: { deep: said },
      visibility: said,
      vendorPhase: { odd: said },
    }),
  ),
  message('m-string', { content: said }),
  message('m-object', { content: { text: said, [words]: 1 } }),
  message('m-null', { content: null, note: said }),
  message('m-human', { role: 'human', content: [{ type: 'text', text: said }] }),
  message('', { content: [{ type: 'text', text: said }] }),
  message('m-deep', { content: [{ type: 'x', in: [said, nested(400)], below: said }] }),
]

/** Reads the messages under choices, and answers all that was written and said about it, as one text. */
async function everythingWritten(rules: Partial<ContentRules>) {
  const key = 'k'.repeat(32)
  const privacy = { contents: { ...defaultContents, ...rules }, fields: {} }
  const redact = createProtector({ redactor: createRedactor(key), key, privacy })
  const lines: string[] = []
  const note = (text: string, fields?: object) => void lines.push(text, JSON.stringify(fields))
  const log: Log = { debug: note, info: note, warn: note, error: note }
  const world = createWorld({ redact, log })
  const platform = createConversations()
  platform.talk('s1', 0)
  platform.change('s1', () => planted)
  await world.sync(sessions, platform.source)
  const result = await world.sync(sessionMessages, platform.source)
  await world.publish([sessions, sessionMessages])
  const files = [...world.lake.files].map(([name, content]) => [name, content])
  const records = [...world.records.all(sessionMessages.name).entries()]
  const checkpoint = await world.checkpoints.read(sessionMessages.name)
  const manifests = [...world.lake.manifests.entries()]
  const text = JSON.stringify([files, records, checkpoint, manifests, lines, result] as unknown as Json)
  return { text, result, rows: world.current(sessionMessages) }
}

/** Parts of what was said, in forms in which it could be written. */
const forms = [
  words,
  'Mustermann',
  'K\u00f6ln',
  file.slice(20, 60),
  file.slice(200, 240),
  '49221',
  secret,
  secret.slice(8, 20),
]

describe('what people and models wrote in messages', () => {
  it('is nowhere where it is hashed: not in rows, records, quarantine, state, logs or results', async () => {
    const { text, result, rows } = await everythingWritten({ content: 'hashed' })
    expect(result).toMatchObject({ counts: { received: planted.length, quarantined: 2, inserted: planted.length - 2 } })
    for (const form of forms) expect(text, form).not.toContain(form)
    expect(rows.get('s1/m-user')).toMatchObject({ role: 'user', text_length: said.length, blocks: 6, attachments: 0 })
    expect(rows.get('s1/m-user')?.text).toMatch(/^hashed:hmac-sha256:[0-9a-f]{16}:\d+$/)
  })

  it('has neither secrets nor files by default', async () => {
    const { text, rows } = await everythingWritten({})
    for (const form of [secret, secret.slice(8, 20), file.slice(20, 60), file.slice(200, 240)]) {
      expect(text, form).not.toContain(form)
    }
    expect(text).toContain(words)
    expect(rows.get('s1/m-user')).toMatchObject({
      attachments: 1,
      attachment_bytes: Buffer.from(file, 'base64').length,
    })
  })

  it('is hashed in one role and kept in another', async () => {
    const { rows } = await everythingWritten({ roles: { user: 'hashed', tool: 'full' } })
    expect(rows.get('s1/m-user')?.text).toMatch(/^hashed:/)
    expect(rows.get('s1/m-tool')?.text).toBe(said)
    expect(rows.get('s1/m-assistant')?.text).toMatch(/^Erika-Mustermann .* redacted:hmac-sha256:/)
    // Nobody chose for it, so the strictest choice holds.
    expect(rows.get('s1/m-human')?.text).toMatch(/^hashed:/)
  })

  it('would be found if it were there', async () => {
    const { text } = await everythingWritten({ content: 'full', attachments: 'kept' })
    expect(forms.filter((form) => !text.includes(form))).toEqual([])
  })
})
