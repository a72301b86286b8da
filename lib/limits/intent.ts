import * as z from 'zod'
import { messageOf, RejectedError } from '../core/errors.ts'
import { laterForm } from '../core/form.ts'
import { parseJson } from '../core/json.ts'
import { firstIssue } from '../core/schema.ts'
import { type EntryOrigin, RequestOrigin } from '../streams/limit-outcome.ts'

/** The most entries of one intent, and of one PUT (§8). */
export const maxEntries = 100

const requestId = z
  .string()
  .regex(/^[\w.:@/+=-]{1,128}$/, 'must be 1 to 128 letters, digits or any of . : @ / + = - _')
  .describe('Names the request; a repetition carries the same id.')

/** A message that asks for limits. Its entries are judged one by one (limits/entries.ts), so that a bad one costs only itself. */
export const Intent = z.object({
  version: z.literal(1).default(1).describe('Version of this schema.'),
  requestId,
  requestedAt: z.iso
    .datetime({ offset: true })
    .transform((text) => new Date(text).toISOString())
    .describe('When somebody asked: of two intents for one address the later one stands. RFC 3339; kept in UTC.'),
  requestedBy: z.string().min(1).max(320).describe('Who asked, for the record.'),
  source: z.string().min(1).max(320).describe('Where it was asked: a file, the CLI, a system.'),
  ...RequestOrigin.shape,
  limits: z
    .array(z.unknown())
    .min(1)
    .max(maxEntries)
    .describe('1 to 100 entries of email and limit, and where known rule, why and until.'),
})
export type Intent = z.infer<typeof Intent>

/** The entry of an intent as producers write it. */
export type IntentEntry = { email: string; limit: number } & EntryOrigin

/**
 * Reads a message of the queue, or of anybody who hands one in. The same text has the same fate in the CLI and in the worker.
 * @throws RejectedError `bad_request` when the text is no JSON, has a key twice in one object, or breaks the schema;
 * `configuration` when it is of a later form: it makes way for others at once, and waits among the dead letters.
 */
export function parseIntent(text: string): Intent {
  const value = jsonOf(text)
  const goBack = 'send it anew in the older form'
  const later = laterForm(value, { what: 'message with credit limits', goBack })
  if (later !== null) throw new RejectedError(later, { code: 'configuration' })
  const intent = Intent.safeParse(value)
  if (intent.success) return intent.data
  throw refused(`it breaks the schema at ${firstIssue(intent.error, 'the top')}`)
}

/**
 * The order of intents, as a text that sorts by it: by the time of the request, then by its id, whatever order the
 * queue brings.
 */
export function orderOf({ requestedAt, requestId }: Pick<Intent, 'requestedAt' | 'requestId'>): string {
  return `${requestedAt}#${requestId}`
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/**
 * The first key that stands twice in one object of a JSON text, or null. Readers disagree on which of the two counts,
 * so such a text has no meaning that we could act on. The text must be valid JSON.
 */
export function duplicateKeyOf(text: string): string | null {
  const open: (Set<string> | null)[] = []
  let lastString = ''
  for (const [part] of text.matchAll(token)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(null)
    else if (part === '}' || part === ']') open.pop()
    else if (part === ':') {
      const keys = open.at(-1)
      // Two spellings of one key ("limit", "lim\u0069t") are the same key.
      const key = JSON.parse(lastString) as string
      if (keys?.has(key)) return key
      keys?.add(key)
    } else lastString = part
  }
  return null
}

function jsonOf(text: string): unknown {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    throw refused(`it is no JSON (${messageOf(error)})`)
  }
  const key = duplicateKeyOf(text)
  if (key === null) return value
  throw refused(`the key "${key.slice(0, 40)}" stands twice in one object, and readers disagree on which one counts`)
}

function refused(why: string) {
  const message = `A message with credit limits can't be read: ${why}. Correct its producer and send it anew.`
  return new RejectedError(message, { code: 'bad_request' })
}
