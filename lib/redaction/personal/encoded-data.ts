/** A part of a text, from its start up to but not including its end. */
type Part = { readonly start: number; readonly end: number }

const letters = new Uint8Array(128)
for (const letter of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_') {
  letters[letter.charCodeAt(0)] = 1
}
const [lineFeed, carriageReturn, slash, equals, backslash] = [10, 13, 47, 61, 92]

/** Lines of encoded data are wrapped at 60 characters and more; words at the end of a line are shorter. */
const shortestLine = 48

/**
 * Finds runs of base64 characters of at least `least` that look encoded, wrapped in lines or not, also within JSON that
 * stands in the text. One pass over the characters, so that large texts cost no more than their length.
 */
export function encodedRuns(text: string, least: number): Part[] {
  const runs: Part[] = []
  for (let at = 0; at < text.length; ) {
    const end = endOfRun(text, at)
    if (end - at >= least && looksEncoded(text.slice(at, end))) runs.push({ start: at, end })
    at = Math.max(end, at) + 1
  }
  return runs
}

function endOfRun(text: string, start: number): number {
  let line = start
  let at = start
  for (;;) {
    while (at < text.length && isLetter(text.charCodeAt(at))) at += 1
    const wrap = wrapAt(text, at)
    if (wrap === 0 || (text.charCodeAt(at + 1) !== slash && at - line < shortestLine)) break
    if (!isLetter(text.charCodeAt(at + wrap))) break
    at += wrap
    line = at
  }
  for (let pads = 0; pads < 2 && at > start && text.charCodeAt(at) === equals; pads++) at += 1
  return at
}

function isLetter(code: number): boolean {
  return code < 128 && letters[code] === 1
}

/** How many characters end a line here, as they are or as JSON escapes them; a slash may be escaped, too. */
function wrapAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code === lineFeed) return 1
  if (code === carriageReturn) return text.charCodeAt(at + 1) === lineFeed ? 2 : 1
  if (code !== backslash) return 0
  const escaped = text[at + 1]
  if (escaped === '/') return 1
  return escaped === 'n' ? 2 : escaped === 'r' && text.startsWith('\\n', at + 2) ? 4 : 0
}

const sample = 2_000

/** Whether characters of base64 are data rather than a word, a path or hex digits. */
export function looksEncoded(text: string): boolean {
  const some = text.slice(0, sample)
  return /[A-Z]/.test(some) && /[a-z]/.test(some) && /\d/.test(some) && /[^\da-fA-F\s=]/.test(some)
}

/** The bytes that a text in base64 holds, undefined for a text that is none; white space and the URL's letters are allowed. */
export function decoded(text: string): Buffer | undefined {
  const bare = /\s/.test(text) ? text.replace(/\s+/g, '') : text
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(bare) ? Buffer.from(bare, 'base64') : undefined
}
