import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { messagesIn } from './said.ts'

/** Members that say, when they hold anything, that a list is not the whole list; without case, "_" and "-". */
const tellsOfGaps = new Set([
  'degraded',
  'error',
  'errors',
  'failed',
  'failure',
  'failures',
  'hasfailures',
  'incomplete',
  'incompleteresults',
  'isincomplete',
  'ispartial',
  'istruncated',
  'partial',
  'partialfailure',
  'partialfailures',
  'partialresult',
  'partialresults',
  'terminatedearly',
  'timedout',
  'truncated',
])
/** Members that say the same when they are false. */
const tellsOfWholeness = new Set(['complete', 'iscomplete', 'ok', 'success'])
/** Members that say it by their words. */
const speaks = new Set(['resultstatus', 'status', 'warning', 'warnings'])
const wordsOfGaps =
  /incomplete|partial|degraded|truncat|time[ds]?[ -]?out|missing|omitted|skipped|unavailable|unreachable|fail|could not|not all\b/i

/** Of a list that goes on they say just that. */
const wordsOfPaging = new Set(['complete', 'iscomplete', 'istruncated', 'truncated'])

/**
 * Names what makes a list less than the whole list: errors, a marker, or a warning of incompleteness beside it, or one
 * level deeper. Null when nothing does. What is empty or false marks nothing.
 */
export function gapsOf(body: Json): string | null {
  if (!isPlainObject(body)) return null
  const inside = Object.entries(body).filter(
    (entry): entry is [string, { [key: string]: Json }] => !saysItself(entry[0]) && isPlainObject(entry[1]),
  )
  const names = [
    ...gapsAmong(body),
    ...inside.flatMap(([name, members]) => gapsAmong(members).map((inner) => `${name}.${inner}`)),
  ].filter((name) => !isPaging(name, body))
  return names.length > 0 ? names.join(', ') : null
}

function saysItself(name: string): boolean {
  const plain = plainName(name)
  return tellsOfGaps.has(plain) || speaks.has(plain)
}

function isPaging(name: string, { pagination }: { [key: string]: Json }): boolean {
  const [place, inner] = name.split('.')
  const goesOn = isPlainObject(pagination) && pagination.hasMore === true
  return goesOn && place === 'pagination' && inner !== undefined && wordsOfPaging.has(plainName(inner))
}

function gapsAmong(members: { [key: string]: Json }): string[] {
  return Object.keys(members).filter((name) => tellsOfGap(plainName(name), members[name] as Json))
}

function tellsOfGap(name: string, value: Json): boolean {
  if (tellsOfGaps.has(name)) return !isEmpty(value)
  if (tellsOfWholeness.has(name)) return value === false || value === 'false'
  return speaks.has(name) && wordsOfGaps.test(messagesIn(value))
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}

function isEmpty(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isPlainObject(value)) return Object.keys(value).length === 0
  return value === null || value === false || value === 0 || value === '' || value === 'false'
}
