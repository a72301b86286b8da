import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'

/** The members in which an error says in words what it is. Everything else of a body may be data, and is not shown. */
const messageMembers = [
  'message',
  'error',
  'error_description',
  'title',
  'detail',
  'details',
  'reason',
  'code',
  'errors',
  'warnings',
]
const depthAllowed = 3
const messagesShown = 3
const longestCode = 12

/** What the message members of an error's body say, as one text; empty when they say nothing. */
export function messagesIn(body: Json | undefined): string {
  return [...new Set(messagesOf(body, 0))].slice(0, messagesShown).join('; ')
}

function messagesOf(value: Json | undefined, depth: number): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value.trim()]
  if (typeof value === 'number') return `${value}`.length <= longestCode ? [`${value}`] : []
  if (depth === depthAllowed || typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.slice(0, messagesShown).flatMap((each) => messagesOf(each, depth + 1))
  if (!isPlainObject(value)) return []
  return messageMembers.flatMap((name) => messagesOf(value[name], depth + 1))
}
