import { isRawNumber, type Json } from '../core/json.ts'

/** A value of the JSON as it was read, and what stands for it. */
type Pair = { original: Json | undefined; changed: Json | undefined }

/** An object or a list that the reading is in. `at` is the key or index of the value that comes next; null before a key. */
type Frame = Pair & { keys: Map<string, string> | undefined; at: string | number | null }

type Reading = { written: string; frames: Frame[]; root: Pair; skipped: number }

const token = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[{}[\],]|[^\s"{}[\],:]+|[\s:]+/g

/**
 * Writes JSON again with what was changed in its values and keys, and all else as it stood: layout, digits, escapes. Where
 * a key comes twice, and the parser kept the last, all its values give way to that one.
 */
export function rewriteJson(text: string, original: Json, changed: Json): string {
  const reading: Reading = { written: '', frames: [], root: { original, changed }, skipped: 0 }
  for (const [part] of text.matchAll(token)) {
    if (reading.skipped > 0) skip(reading, part)
    else if (part === '{' || part === '[') open(reading, part)
    else if (part === '}' || part === ']') {
      reading.frames.pop()
      reading.written += part
    } else if (part === ',') next(reading)
    else if (/^[\s:]/.test(part)) reading.written += part
    else writeScalar(reading, part)
  }
  return reading.written
}

function skip(reading: Reading, part: string): void {
  if (part === '{' || part === '[') reading.skipped += 1
  else if (part === '}' || part === ']') reading.skipped -= 1
}

function open(reading: Reading, part: string): void {
  const { original, changed } = valueAt(reading)
  const isList = part === '['
  if (isContainer(original, isList) && isContainer(changed, isList)) {
    reading.frames.push({
      original,
      changed,
      keys: isList ? undefined : keysOf(original, changed),
      at: isList ? 0 : null,
    })
    reading.written += part
  } else {
    reading.skipped = 1
    reading.written += JSON.stringify(changed)
  }
}

function next(reading: Reading): void {
  const frame = reading.frames.at(-1) as Frame
  frame.at = typeof frame.at === 'number' ? frame.at + 1 : null
  reading.written += ','
}

function writeScalar(reading: Reading, part: string): void {
  const frame = reading.frames.at(-1)
  if (frame && frame.at === null) {
    const key = JSON.parse(part) as string
    const clean = frame.keys?.get(key) ?? key
    frame.at = key
    reading.written += clean === key ? part : JSON.stringify(clean)
    return
  }
  const { original, changed } = valueAt(reading)
  reading.written += changed === original && isWrittenAs(part, original) ? part : JSON.stringify(changed)
}

function isWrittenAs(part: string, value: Json | undefined): boolean {
  return isRawNumber(value) ? part === value.rawJSON : JSON.parse(part) === value
}

function valueAt({ frames, root }: Reading): Pair {
  const frame = frames.at(-1)
  if (frame === undefined) return root
  const { original, changed, keys, at } = frame
  const read = (value: unknown, key: string | number) => (value as Record<string | number, Json>)[key]
  const key = at as string | number
  return { original: read(original, key), changed: read(changed, keys?.get(key as string) ?? key) }
}

function isContainer(value: Json | undefined, isList: boolean): value is Json[] | { [key: string]: Json } {
  return typeof value === 'object' && value !== null && !isRawNumber(value) && Array.isArray(value) === isList
}

/** From each key to the one that stands for it. Both objects have their keys in one order. */
function keysOf(original: object, changed: object): Map<string, string> {
  const keys = Object.keys(changed)
  return new Map(Object.keys(original).map((key, i) => [key, keys[i] as string]))
}
