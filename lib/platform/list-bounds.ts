/** Where records begin and end: start, end, start, end. An end is the place after the last byte. */
export type Bounds = readonly number[]

/** A list in the bytes of a JSON object: the place of its brackets, and of what stands in it. */
export type ListPlace = { readonly open: number; readonly close: number; readonly bounds: Bounds }

/** Finds the elements of the list whose bracket stands at `open`, and its end; undefined for what it can't tell. */
type Elements = (bytes: Buffer, open: number) => Pick<ListPlace, 'close' | 'bounds'> | undefined

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/**
 * Finds the list that is the member of this name (with its quotes) of a JSON object. It looks at strings and depth only;
 * undefined for what is no such object, and wherever two members could be meant.
 */
export function listIn(bytes: Buffer, name: Buffer, elementsOf: Elements): ListPlace | undefined {
  let list: ListPlace | undefined
  let at = afterSpace(bytes, 0)
  if (bytes[at] !== openBrace) return undefined
  do {
    const start = afterSpace(bytes, at + 1)
    const end = bytes[start] === quote ? stringEnd(bytes, start) : -1
    // An escaped name may be any name.
    if (end < 0 || bytes.subarray(start, end).includes(backslash)) return undefined
    const isWanted = end - start === name.length && bytes.compare(name, 0, name.length, start, end) === 0
    at = afterSpace(bytes, end)
    if (bytes[at] !== colon) return undefined
    at = afterSpace(bytes, at + 1)
    if (isWanted) {
      const elements = list === undefined && bytes[at] === openBracket ? elementsOf(bytes, at) : undefined
      if (elements === undefined) return undefined
      list = { ...elements, open: at }
    }
    at = isWanted && list ? list.close + 1 : valueEnd(bytes, at)
    if (at < 0) return undefined
    at = afterSpace(bytes, at)
  } while (bytes[at] === comma)
  return bytes[at] === closeBrace && afterSpace(bytes, at + 1) === bytes.length ? list : undefined
}

/**
 * Finds elements that all begin as the first does, by the search for that beginning: many times quicker than a look at
 * each byte. It may cut what is nested in an element; the pieces of that are no JSON.
 */
export function sameBeginnings(bytes: Buffer, open: number): ReturnType<Elements> {
  const first = open + 1
  if (bytes[first] !== openBrace || bytes[first + 1] !== quote) return undefined
  const nameEnd = stringEnd(bytes, first + 1)
  if (nameEnd < 0 || bytes[nameEnd] !== colon) return undefined
  const between = Buffer.concat([Buffer.from('},'), bytes.subarray(first, nameEnd + 1)])
  const bounds = [first]
  let last = first
  for (let at = bytes.indexOf(between, first); at >= 0; at = bytes.indexOf(between, last)) {
    last = at + 2
    bounds.push(at + 1, last)
  }
  const end = nestedEnd(bytes, last)
  if (end < 0 || bytes[end] !== closeBracket) return undefined
  bounds.push(end)
  return { close: end, bounds }
}

/** Finds elements that are objects, by a look at each byte. */
export function wholeElements(bytes: Buffer, open: number): ReturnType<Elements> {
  const bounds: number[] = []
  let at = afterSpace(bytes, open + 1)
  if (bytes[at] === closeBracket) return { close: at, bounds }
  for (; bytes[at] === openBrace; at = afterSpace(bytes, at + 1)) {
    const end = nestedEnd(bytes, at)
    if (end < 0) return undefined
    bounds.push(at, end)
    at = afterSpace(bytes, end)
    if (bytes[at] === closeBracket) return { close: at, bounds }
    if (bytes[at] !== comma) return undefined
  }
  return undefined
}

function valueEnd(bytes: Buffer, start: number): number {
  const code = bytes[start]
  if (code === quote) return stringEnd(bytes, start)
  if (code === openBrace || code === openBracket) return nestedEnd(bytes, start)
  for (let at = start; at < bytes.length; at++) if (bytes[at] === comma || bytes[at] === closeBrace) return at
  return -1
}

/** The place after the object or list that begins here; -1 when it has no end. */
function nestedEnd(bytes: Buffer, start: number): number {
  const { length } = bytes
  let depth = 0
  for (let at = start; at < length; at++) {
    const code = bytes[at] as number
    if (code === quote) {
      at = stringEnd(bytes, at) - 1
      if (at < 0) return -1
    } else if (code === openBrace || code === openBracket) depth += 1
    else if (code === closeBrace || code === closeBracket) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

/** The place after the string that begins here; -1 when it has no end. */
function stringEnd(bytes: Buffer, start: number): number {
  const { length } = bytes
  for (let at = start + 1; at < length; at++) {
    const code = bytes[at]
    if (code === quote) return at + 1
    if (code === backslash) at += 1
  }
  return -1
}

function afterSpace(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1
  return at
}
