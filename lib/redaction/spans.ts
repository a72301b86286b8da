import { isRedacted } from './values.ts'

/** Where a secret stands in a text; `secret` where it is written otherwise than it is meant, as with URL escapes. */
export type Span = { start: number; end: number; secret?: string }

export type Fingerprint = (secret: string) => string

const fingerprints = /redacted:hmac-sha256:[0-9a-f]{16}/g

const beforeSign = 'redacted'.length
const fingerprintLength = 'redacted:hmac-sha256:'.length + 16

/** Where the fingerprint ends whose first colon is at `at`: its colons give nothing to a name. -1 when there is none. */
export function endOfFingerprint(text: string, at: number): number {
  const start = at - beforeSign
  return start >= 0 && text.startsWith('redacted:hmac-sha256:', start) ? start + fingerprintLength : -1
}

/** The text with a fingerprint in the place of each span; the same text when there is nothing to replace. */
export function replaceSpans(text: string, spans: Span[], fingerprint: Fingerprint): string {
  const apart = joined([...spans, ...replacedBefore(text)])
  let clean = ''
  let from = 0
  for (const { start, end, secret = text.slice(start, end) } of apart) {
    if (isRedacted(secret)) continue
    clean += text.slice(from, start) + fingerprint(secret)
    from = end
  }
  return from === 0 ? text : clean + text.slice(from)
}

/** Fingerprints in a text are whole or gone: a span that cuts one takes all of it. */
function replacedBefore(text: string): Span[] {
  if (!text.includes('redacted:hmac-sha256:')) return []
  return Array.from(text.matchAll(fingerprints), ({ 0: { length }, index }) => ({ start: index, end: index + length }))
}

/** Spans in order, those that overlap as one. Of two that are the same, the one that knows what is meant stays. */
function joined(spans: Span[]): Span[] {
  const ordered = spans
    .filter(({ start, end }) => end > start)
    .sort(
      (a, b) => a.start - b.start || b.end - a.end || Number(b.secret !== undefined) - Number(a.secret !== undefined),
    )
  const apart: Span[] = []
  for (const span of ordered) {
    const last = apart.at(-1)
    if (last === undefined || span.start >= last.end) apart.push(span)
    else if (span.end > last.end) apart[apart.length - 1] = { start: last.start, end: span.end }
  }
  return apart
}

/** Percent escapes undone, so that a secret has the same fingerprint inside a URL and outside. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
