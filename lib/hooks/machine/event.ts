import { randomUUID } from 'node:crypto'
import type { HookEvent, HookInput } from '../hook-event.ts'

/**
 * Bounds of what a machine keeps and sends. The first four are those of the collector: the command holds no schema
 * library, so they stand here again, and a test compares both.
 */
export const machineLimits = {
  inputBytes: 64 * 1024,
  bodyBytes: 256 * 1024,
  eventsPerBody: 100,
  hostCharacters: 255,
  /** An input above `inputBytes` keeps its known fields only, so far as it can be read at all. */
  readBytes: 1024 * 1024,
  cutCharacters: 4_000,
} as const

/** The events that the agent tells (§6.1). */
export const hookEventNames = ['Notification', 'Stop', 'SubagentStop', 'SessionEnd'] as const

const texts = ['session_id', 'cwd', 'message', 'reason'] as const

/** Tells whether a value is what the agent hands to a hook, by the rules of `HookInput`. */
export function isHookInput(value: unknown): value is HookInput {
  return isObject(value) && typeof value.hook_event_name === 'string'
}

/** Tells whether a value is an event as this command writes it: by the rules of `HookEvent`, and no laxer. */
export function isHookEvent(value: unknown): value is HookEvent {
  if (!isObject(value) || !isHookInput(value.input)) return false
  const { id, occurredAt, host, agentVersion } = value
  return (
    typeof id === 'string' &&
    uuid.test(id) &&
    typeof occurredAt === 'string' &&
    isTime(occurredAt) &&
    isShort(host, machineLimits.hostCharacters) &&
    (agentVersion === undefined || isShort(agentVersion, 100))
  )
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function isTime(text: string): boolean {
  const unixMs = Date.parse(text)
  return !Number.isNaN(unixMs) && new Date(unixMs).toISOString() === text
}

function isShort(value: unknown, characters: number): boolean {
  return typeof value === 'string' && value.length <= characters
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An event on its way: its id and time, and its JSON as it is kept and sent. */
export type EventText = { id: string; unixMs: number; text: string }

/** What the machine knows beside the input. */
type Known = { unixMs: number; host: string; agentVersion?: string | undefined }

/**
 * Makes an event of what came on standard input. The input stays the text that it is, so that long numbers keep their
 * digits and no escape makes it longer.
 * @returns the event, or a sentence that says why there is none; it holds nothing of the input.
 */
export function eventOf(given: string, { unixMs, host, agentVersion }: Known): EventText | string {
  // Some shells of Windows begin what they hand on with a byte order mark, which is no JSON.
  const input = given.replace(/^\ufeff/, '')
  const bytes = Buffer.byteLength(input)
  const value = parsed(input)
  if (value === undefined) return `The input of ${bytes} bytes is not JSON.`
  if (!isHookInput(value)) return `The input of ${bytes} bytes is no object with hook_event_name.`
  const kept = bytes > machineLimits.inputBytes ? JSON.stringify(cut(value, bytes)) : input.trim()
  const id = randomUUID()
  const envelope = JSON.stringify({
    id,
    occurredAt: new Date(unixMs).toISOString(),
    host: host.slice(0, machineLimits.hostCharacters),
    ...(agentVersion === undefined ? {} : { agentVersion }),
  })
  return { id, unixMs, text: `${envelope.slice(0, -1)},"input":${kept}}` }
}

/** Reads JSON; undefined when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The known fields of an input that is too large, each cut; the size says that there was more. */
function cut(input: HookInput, bytes: number): HookInput {
  const short: HookInput = { hook_event_name: cutText(input.hook_event_name) }
  for (const name of texts) {
    const value = input[name]
    if (typeof value === 'string') short[name] = cutText(value)
  }
  return { ...short, cut_from_bytes: bytes }
}

/** The begin of a text, without half a character at its end. */
function cutText(text: string): string {
  return text.slice(0, machineLimits.cutCharacters).replace(/[\ud800-\udbff]$/, '')
}
