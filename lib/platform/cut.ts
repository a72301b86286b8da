import { isPlainObject } from '../core/canonical-json.ts'
import { type Json, parseJson } from '../core/json.ts'
import { type Bounds, listIn, sameBeginnings, wholeElements } from './list-bounds.ts'

/** Tells records by the bytes they came in. */
export type Recognizer = {
  /** A name for these bytes that no others have. */
  digest(bytes: Buffer, start: number, end: number): string
  /** The number under which a record of these bytes is known; -1 when none is. */
  find(digest: string): number
}

/** A record as it came. What is known by its bytes was not read. */
export type CutRecord = {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly digest: string
  /** Where it is known, as the recognizer found it; -1 for what was read. */
  readonly known: number
  /** What was read. */
  readonly json: Json | undefined
}

/** An answer cut open: all that stands around its list, and the records of the list. */
export type CutBody = { readonly envelope: { [key: string]: Json }; readonly records: CutRecord[] }

/**
 * Cuts the list out of an answer and reads only those of its records that are not known. Undefined for what it can't cut:
 * then the whole is to be parsed.
 *
 * A cut needs no proof of its own. Where the envelope is JSON with an empty list, and each piece is JSON, the whole is
 * JSON with just these pieces in its list; and a piece that is known was read before.
 */
export function cutBody(bytes: Buffer, items: string, recognizer: Recognizer): CutBody | undefined {
  const name = Buffer.from(`"${items}"`)
  for (const elementsOf of [sameBeginnings, wholeElements]) {
    const list = listIn(bytes, name, elementsOf)
    const envelope = list && jsonOf(`${text(bytes, 0, list.open + 1)}${text(bytes, list.close, bytes.length)}`)
    if (!list || !isPlainObject(envelope) || !isEmptyList(envelope[items])) continue
    const records = recordsIn(bytes, list.bounds, recognizer)
    if (records) return { envelope, records }
  }
  return undefined
}

/** What a record says. */
export function readRecord({ json, bytes, start, end }: CutRecord): Json {
  return json === undefined ? parseJson(text(bytes, start, end)) : json
}

function recordsIn(bytes: Buffer, bounds: Bounds, { digest, find }: Recognizer): CutRecord[] | undefined {
  const records: CutRecord[] = []
  for (let i = 0; i < bounds.length; i += 2) {
    const [start, end] = [bounds[i] as number, bounds[i + 1] as number]
    const name = digest(bytes, start, end)
    const known = find(name)
    const json = known < 0 ? jsonOf(text(bytes, start, end)) : undefined
    if (known < 0 && json === undefined) return undefined
    records.push({ bytes, start, end, digest: name, known, json })
  }
  return records
}

function isEmptyList(value: Json | undefined): boolean {
  return Array.isArray(value) && value.length === 0
}

function text(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end)
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
