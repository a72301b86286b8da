/**
 * Texts that stand in a record for a value that is not kept. They tell enough to count, to compare and to add up, and
 * nothing of the value.
 */

/** A value of which only a keyed fingerprint and its length are kept; the length in UTF-16 code units of its text. */
type Hashed = { readonly digits: string; readonly length: number }

/** Contents of an image or a file of which only type, size and digest are kept. */
type Attachment = { readonly mediaType: string; readonly bytes: number; readonly sha256: string }

/** What stands for a value that is hashed: equal values give equal texts, under one key. */
export function hashedText({ digits, length }: Hashed): string {
  return `hashed:hmac-sha256:${digits}:${length}`
}

const hashed = /^hashed:hmac-sha256:[0-9a-f]{16}(?::(\d{1,15}))?$/

/** Whether a value is a text that stands for a hashed one. */
export function isHashed(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('hashed:') && hashed.test(value)
}

/** The length of a text: of what it stands for where it stands for something. */
export function lengthOf(text: string): number {
  const length = text.startsWith('hashed:') ? hashed.exec(text)?.[1] : undefined
  return length === undefined ? text.length : Number(length)
}

/** What stands for the contents of an image or a file. `mediaType` is `unknown` where nothing tells it. */
export function attachmentText({ mediaType, bytes, sha256 }: Attachment): string {
  return `attachment:${mediaType}:${bytes}:sha256:${sha256}`
}

const attachment = /attachment:([\w.+/-]{1,127}):(\d{1,15}):sha256:([0-9a-f]{64})/g

/** The attachments that a text stands for or mentions, in their order. */
export function attachmentsIn(text: string): readonly Attachment[] {
  if (!text.includes('attachment:')) return none
  return [...text.matchAll(attachment)].map(([, mediaType = '', bytes, sha256 = '']) => ({
    mediaType,
    bytes: Number(bytes),
    sha256,
  }))
}

const none: readonly Attachment[] = []
