/** A quoted value and where the text goes on after its closing quote. */
type Quoted = { start: number; end: number; next: number }

const backslash = 92

/** Whether a character is a quote: double, single, or a backtick. */
export function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 96
}

/** The place before the backslashes that escape what stands at `at`. */
export function beforeEscapes(text: string, at: number): number {
  let start = at
  while (start > 0 && text.charCodeAt(start - 1) === backslash) start -= 1
  return start
}

/** The place of the quote that begins at `at`, after the backslashes that escape it; -1 when none does. */
export function quoteAt(text: string, at: number): number {
  let quote = at
  while (text.charCodeAt(quote) === backslash) quote += 1
  return isQuote(text.charCodeAt(quote)) ? quote : -1
}

/** What a quote encloses: to its fellow of the same escaping, or to the end of the line where that is missing. */
export function quotedFrom(text: string, at: number): Quoted | undefined {
  const quote = quoteAt(text, at)
  if (quote < 0) return undefined
  const sign = text[quote] as string
  const escapes = quote - at
  if (escapes === 0 && text.startsWith(sign.repeat(3), quote)) {
    const end = text.indexOf(sign.repeat(3), quote + 3)
    return end < 0 ? toEndOfLine(text, quote + 3) : { start: quote + 3, end, next: end + 3 }
  }
  const closing = escapes === 0 ? closingQuote(text, quote) : closingEscaped(text, quote, escapes)
  if (closing < 0) return toEndOfLine(text, quote + 1)
  return { start: quote + 1, end: closing - escapes, next: closing + 1 }
}

function toEndOfLine(text: string, start: number): Quoted {
  const end = endOfLine(text, start)
  return { start, end, next: end }
}

function closingQuote(text: string, quote: number): number {
  const sign = text[quote] as string
  for (let at = text.indexOf(sign, quote + 1); at >= 0; at = text.indexOf(sign, at + 1)) {
    if ((at - Math.max(beforeEscapes(text, at), quote + 1)) % 2 === 0) return at
  }
  return -1
}

/** An escaped text has one line; a search beyond it could begin anew for each line of a long text. */
function closingEscaped(text: string, quote: number, escapes: number): number {
  const sign = text[quote] as string
  const end = endOfLine(text, quote)
  for (let at = text.indexOf(sign, quote + 1); at >= 0 && at < end; at = text.indexOf(sign, at + 1)) {
    if (at - Math.max(beforeEscapes(text, at), quote + 1) <= escapes) return at
  }
  return -1
}

/** Where the line that holds `at` ends. */
function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  if (end < 0) return text.length
  return end > at && text.charCodeAt(end - 1) === 13 ? end - 1 : end
}
