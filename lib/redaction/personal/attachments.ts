import { createHash } from 'node:crypto'
import { isPlainObject } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import { setOwn } from '../../core/own-property.ts'
import { attachmentText } from '../../core/stand-ins.ts'
import { decoded, encodedRuns, looksEncoded } from './encoded-data.ts'

type JsonObject = { [key: string]: Json }

/** What is known of a value from what stands around it. */
type Place = { readonly name: string; readonly isDeclared: boolean; readonly mediaType: string | undefined }

/** Members that hold contents, in whatever block they stand: which types of blocks there are is "not shown". */
const dataNames = new Set(
  `data base64 b64 b64json bytes blob content body raw payload file image audio document filedata imagedata
  audiodata filecontent source`.split(/\s+/),
)
const mediaTypeNames = ['mediaType', 'media_type', 'mimeType', 'mime_type', 'contentType', 'content_type']
/** Signatures and what the vendor encrypted are no image and no file. */
const opaque = /signature|encrypted/i
const parsedNames = new Set(['parseddata'])

const leastByName = 64
const leastByForm = 512

/**
 * The value with type, size and SHA-256 in place of the contents of images and files: base64 and lists of bytes at any
 * depth, addresses that hold their data, the text that was read from a file. Types of blocks are not asked: members'
 * names and the form of their values tell. The same value when there is nothing to replace; never changes its input.
 */
export function withoutAttachments(value: Json): Json {
  return replaced(value, { name: '', isDeclared: false, mediaType: undefined })
}

function replaced(value: Json, place: Place): Json {
  if (typeof value === 'string') return replacedText(value, place)
  if (Array.isArray(value)) return replacedList(value, place)
  return isPlainObject(value) ? replacedObject(value, place) : value
}

function replacedList(values: Json[], place: Place): Json {
  if (isByteList(values)) return standIn(Buffer.from(values as number[]), place)
  let copy: Json[] | undefined
  for (let i = 0; i < values.length; i++) {
    const result = replaced(values[i] as Json, place)
    if (result === values[i]) continue
    copy ??= values.slice()
    copy[i] = result
  }
  return copy ?? values
}

function isByteList(values: readonly Json[]): boolean {
  return (
    values.length >= leastByName &&
    values.every((value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 255)
  )
}

function replacedObject(object: JsonObject, outer: Place): JsonObject {
  const isDeclared = object.type === 'base64' || object.encoding === 'base64'
  const mediaType = mediaTypeIn(object) ?? outer.mediaType
  let copy: JsonObject | undefined
  for (const name in object) {
    const value = object[name] as Json
    const result = replaced(value, { name: folded(name), isDeclared, mediaType })
    if (result === value) continue
    copy ??= { ...object }
    setOwn(copy, name, result)
  }
  return copy ?? object
}

function folded(name: string): string {
  return name.replace(/[_\s-]/g, '').toLowerCase()
}

function mediaTypeIn(object: JsonObject): string | undefined {
  for (const name of [...mediaTypeNames, 'type']) {
    const value = object[name]
    if (typeof value === 'string' && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(value)) return value.toLowerCase()
  }
  return undefined
}

function replacedText(text: string, place: Place): string {
  if (text === '' || opaque.test(place.name) || text.startsWith('attachment:')) return text
  if (parsedNames.has(place.name)) return standIn(Buffer.from(text), { mediaType: 'text/plain' })
  if (dataNames.has(place.name) && (place.isDeclared || text.length >= leastByName)) {
    const bytes = decoded(text)
    if (bytes && (place.isDeclared || looksEncoded(text))) return standIn(bytes, place)
  }
  if (text.length < leastByForm && !text.includes(';base64,')) return text
  return withoutRuns(text.replace(dataAddress, replacedAddress), place)
}

const dataAddress = /data:([\w.+-]{1,60}\/[\w.+-]{1,60})?[^,\s"']{0,100};base64,([A-Za-z0-9+/_-]{4,}={0,2})/gi

function replacedAddress(_address: string, mediaType: string | undefined, data: string): string {
  return standIn(Buffer.from(data, 'base64'), { mediaType: mediaType?.toLowerCase() })
}

function withoutRuns(text: string, place: Place): string {
  const runs = text.length < leastByForm ? [] : encodedRuns(text, leastByForm)
  let result = ''
  let at = 0
  for (const { start, end } of runs) {
    const data = text.slice(start, end).replace(/\\[nr]|[\\\s]/g, '')
    result += text.slice(at, start) + standIn(Buffer.from(data, 'base64'), place)
    at = end
  }
  return at === 0 && runs.length === 0 ? text : result + text.slice(at)
}

function standIn(bytes: Buffer, { mediaType }: Pick<Place, 'mediaType'>): string {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return attachmentText({ mediaType: mediaType ?? typeByForm(bytes), bytes: bytes.length, sha256 })
}

const beginnings: readonly [string, string][] = [
  ['89504e47', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['52494646', 'image/webp'],
  ['25504446', 'application/pdf'],
  ['504b0304', 'application/zip'],
]

function typeByForm(bytes: Buffer): string {
  const begins = bytes.subarray(0, 4).toString('hex')
  return beginnings.find(([beginning]) => begins.startsWith(beginning))?.[1] ?? 'unknown'
}
