import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../core/folders.ts'
import { laterForm } from '../../core/form.ts'
import { type EventText, isHookEvent, parsed } from './event.ts'
import { writeAtomically } from './place.ts'

/** How much a machine keeps while nobody answers. */
export const spoolLimits = { events: 10_000, bytes: 20 * 1024 * 1024 } as const

/** An event in the spool, as far as its file name tells. */
export type Spooled = { name: string; id: string; unixMs: number; bytes: number }

/**
 * A folder with one file for each event that is not delivered. The name tells time, id and size, so that a listing
 * answers every question and no file is opened by another process than the one that sends it.
 */
export type Spool = {
  /** Keeps an event durably; false when the spool is full. @throws what the file system says */
  add(event: EventText): boolean
  /** All events, the oldest first. */
  list(): Spooled[]
  /**
   * The text of an event; null when its file is gone, or is no event any more: then it is removed. One that a later version
   * left stays as it is, and is null, too.
   */
  read(spooled: Spooled): string | null
  /** The sentence on what a later version left, once `read` has met such an event. */
  refusal(): string | null
  remove(spooled: Spooled): void
  /** Brings in what a process left that was killed between writing and renaming. */
  sweep(nowUnixMs: number): void
}

/** A process that writes an event lives shorter than this. */
const writingMs = 60_000

/** Opens the spool in a folder, which is made when the first event comes. */
export function createSpool(
  folder: string,
  { limits = spoolLimits, onBroken }: { limits?: { events: number; bytes: number }; onBroken: (name: string) => void },
): Spool {
  const at = (name: string) => join(folder, name)
  const list = () => namesIn(folder).flatMap(spooledOf).sort(byName)
  let refusal: string | null = null
  const read = (spooled: Spooled) => {
    const text = textOf(at(spooled.name))
    const later = laterEvent(text, spooled)
    refusal ??= later
    if (later !== null) return null
    if (text === null || isEvent(text, spooled)) return text
    rmSync(at(spooled.name), { force: true })
    onBroken(spooled.name)
    return null
  }
  return {
    list,
    read,
    refusal: () => refusal,
    add: ({ id, unixMs, text }) => {
      const bytes = Buffer.byteLength(text)
      const kept = list()
      const keptBytes = kept.reduce((sum, each) => sum + each.bytes, 0)
      if (kept.length >= limits.events || keptBytes + bytes > limits.bytes) return false
      makeFolder(folder, 0o700)
      const name = `${String(unixMs).padStart(13, '0')}_${id}_${bytes}.json`
      writeAtomically(at(name), text, { mode: 0o600, temporary: at(`${name}.tmp`) })
      return true
    },
    remove: ({ name }) => rmSync(at(name), { force: true }),
    sweep: (nowUnixMs) => {
      for (const temporary of namesIn(folder).filter((name) => name.endsWith('.tmp'))) {
        if (!isFarFrom(at(temporary), nowUnixMs)) continue
        const name = temporary.slice(0, -'.tmp'.length)
        const [spooled] = spooledOf(name)
        // Who gave it another name knows what it is.
        if (spooled === undefined) continue
        const text = textOf(at(temporary))
        if (isEvent(text, spooled) || laterEvent(text, spooled) !== null) renameSync(at(temporary), at(name))
        else rmSync(at(temporary), { force: true })
      }
    },
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function spooledOf(name: string): Spooled[] {
  const [, unixMs = '', id = '', bytes = ''] = /^(\d{13})_([0-9a-f-]{36})_(\d+)\.json$/.exec(name) ?? []
  return id === '' ? [] : [{ name, id, unixMs: Number(unixMs), bytes: Number(bytes) }]
}

function byName(a: Spooled, b: Spooled): number {
  return a.name < b.name ? -1 : 1
}

/** A text counts as the event of a name only when it is whole. */
function isEvent(text: string | null, { id, bytes }: Spooled): boolean {
  if (text === null || Buffer.byteLength(text) !== bytes) return false
  const value = parsed(text)
  return isHookEvent(value) && value.id === id
}

/** What is to be said of a whole text that a later version left; null of all others. */
function laterEvent(text: string | null, { name, bytes }: Spooled): string | null {
  if (text === null || Buffer.byteLength(text) !== bytes) return null
  return laterForm(parsed(text), { what: `event ${name} in the spool`, goBack: 'remove the file' })
}

function textOf(file: string): string | null {
  return unlessGone(() => readFileSync(file, 'utf8'))
}

/** In either direction: the clock may have been set back meanwhile. */
function isFarFrom(file: string, nowUnixMs: number): boolean {
  return unlessGone(() => Math.abs(nowUnixMs - statSync(file).mtimeMs) > writingMs) ?? false
}

/** Another process may take a file away at any time. */
function unlessGone<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
