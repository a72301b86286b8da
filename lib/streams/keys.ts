import type { Stream } from './stream.ts'

/** The fields that identify a record of a stream, in the order of its key. */
export function keyFieldsOf({ primaryKey }: Pick<Stream, 'primaryKey'>): readonly string[] {
  return typeof primaryKey === 'string' ? [primaryKey] : primaryKey
}

/** The primary key in words: its fields. */
export function keyNamesOf(stream: Pick<Stream, 'primaryKey'>): string {
  return keyFieldsOf(stream).join(', ')
}

/**
 * A key of several values as one text, from which each can be read again: `keyParts`. A key of a single value is that
 * value. The values of all but the last are what the record belongs to, so that a beginning of the text names its parent.
 */
export function keyText(values: readonly string[]): string {
  return values.length === 1 ? (values[0] as string) : values.map(keyPart).join('/')
}

/** One of several values, as it stands in the text of a key: without a slash, which parts them. */
export function keyPart(value: string): string {
  return /[%/]/.test(value) ? value.replaceAll('%', '%25').replaceAll('/', '%2F') : value
}

/** The values that a key's text holds, as many as the key has fields. */
export function keyParts(text: string, fields: number): readonly string[] {
  if (fields === 1) return [text]
  return text.split('/').map((part) => part.replaceAll('%2F', '/').replaceAll('%25', '%'))
}

/** The part of a key's text that names the parent: its first value, as `keyPart` writes it. */
export function parentPart(text: string): string {
  const end = text.indexOf('/')
  return end < 0 ? text : text.slice(0, end)
}
