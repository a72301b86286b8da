/** Where a text stops being JSON: the place counted in characters from 0, and what stands there in general words. */
export type JsonFault = { at: number; found: string }

/** What may come next. */
type Next = 'value' | 'first value or ]' | 'key' | 'first key or }' | 'colon' | 'comma or end'

/** What programs write that is no JSON. Only these are named: anything else that stands there may be data. */
const impostors = /(?:-?Infinity|-?inf|NaN|nan|undefined|None|True|False)\b/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const literal = /true|false|null/y
const space = /[ \t\n\r]*/y

/**
 * Finds the first place at which a text is no JSON; null when it is. The messages of `JSON.parse` quote the text around
 * the fault, and the text is data: this one names the place and quotes nothing of it.
 */
export function jsonFaultOf(text: string): JsonFault | null {
  const open: ('{' | '[')[] = []
  let next: Next = 'value'
  for (let at = endOf(space, text, 0); ; at = endOf(space, text, at)) {
    const char = text[at]
    if (char === undefined) {
      return next === 'comma or end' && open.length === 0 ? null : { at, found: 'the end of the text' }
    }
    const inside = open.at(-1)
    const step = stepAt(text, at, { next, inside })
    if (step === null) return { at: faultIn(text, at), found: foundAt(text, at) }
    if (char === '{' || char === '[') open.push(char)
    else if (char === '}' || char === ']') open.pop()
    at = step.at
    next = step.next
  }
}

type Place = { next: Next; inside: '{' | '[' | undefined }

function stepAt(text: string, at: number, { next, inside }: Place): { at: number; next: Next } | null {
  const char = text[at]
  const afterChar = at + 1
  if (next === 'colon') return char === ':' ? { at: afterChar, next: 'value' } : null
  if (next === 'comma or end') {
    if (char === ',' && inside) return { at: afterChar, next: inside === '{' ? 'key' : 'value' }
    return (char === '}' && inside === '{') || (char === ']' && inside === '[') ? { at: afterChar, next } : null
  }
  if (next === 'first key or }' && char === '}') return { at: afterChar, next: 'comma or end' }
  if (next === 'first value or ]' && char === ']') return { at: afterChar, next: 'comma or end' }
  if (next === 'key' || next === 'first key or }') return char === '"' ? after(stringEnd(text, at), 'colon') : null
  if (char === '{') return { at: afterChar, next: 'first key or }' }
  if (char === '[') return { at: afterChar, next: 'first value or ]' }
  if (char === '"') return after(stringEnd(text, at), 'comma or end')
  const end = Math.max(endOf(number, text, at), endOf(literal, text, at))
  return after(end > at ? end : -1, 'comma or end')
}

function after(at: number, next: Next): { at: number; next: Next } | null {
  return at < 0 ? null : { at, next }
}

/** The place behind a string that begins at `at`; where it breaks off, as a negative number. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; ; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x22) return i + 1
    if (Number.isNaN(code) || code < 0x20) return -i
    if (code !== 0x5c) continue
    const sequence = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y
    sequence.lastIndex = i + 1
    if (!sequence.test(text)) return -i
    i = sequence.lastIndex - 1
  }
}

function faultIn(text: string, at: number): number {
  const end = text[at] === '"' ? stringEnd(text, at) : at
  return end < 0 ? -end : at
}

function foundAt(text: string, at: number): string {
  if (text[at] === '"' && stringEnd(text, at) < 0) return 'a string that breaks off'
  impostors.lastIndex = at
  const [impostor] = impostors.exec(text) ?? []
  if (impostor) return impostor
  return '<{}[],:"'.includes(text[at] as string) ? `"${text[at]}"` : 'a character that may not stand there'
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}
