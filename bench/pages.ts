import { readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { createGenerators } from '../lib/local/simulator/generators.ts'
import { settingsOf } from '../lib/local/simulator/options.ts'

/** Bodies of a list's pages in a file, one after the other: page n stands between the n-th end and the next. */
export type PagesFile = { file: string; ends: Float64Array }

/** The list to write: how many sessions, in which state, and whether its pages are compressed. */
export type PagesWanted = {
  sessions: number
  state: number
  changedShare: number
  isGzip: boolean
  /** How many messages a session has on average; it says so of itself. */
  messagesPerSession?: number
}

const perPage = 100
const start = Date.UTC(2026, 0, 5)

/** Writes the pages of a list of sessions once, so that serving them costs next to nothing. */
export async function writePages(file: string, wanted: PagesWanted): Promise<PagesFile> {
  const { sessions, isGzip } = wanted
  const recordAt = sessionsIn(wanted)
  const pages = Math.ceil(sessions / perPage)
  const ends = new Float64Array(pages)
  const handle = await open(file, 'w')
  try {
    let end = 0
    for (let page = 0; page < pages; page++) {
      const records: string[] = []
      for (let at = page * perPage; at < Math.min(sessions, (page + 1) * perPage); at++) records.push(recordAt(at))
      const isLast = page === pages - 1
      const pagination = isLast ? { hasMore: false, nextCursor: null } : { hasMore: true, nextCursor: `${page + 1}` }
      const body = `{"sessions":[${records.join(',')}],"pagination":${JSON.stringify(pagination)}}`
      end += await write(handle, isGzip ? gzipSync(body, { level: 6 }) : Buffer.from(body))
      ends[page] = end
    }
  } finally {
    await handle.close()
  }
  return { file, ends }
}

/** The sessions of a state. In the second one a share of them has gone on. */
export function sessionsOf({ sessions, state, changedShare, messagesPerSession }: PagesWanted) {
  const rates = { sessions: { changed: changedShare, added: 0, removed: 0 } }
  const counts = { sessions, ...(messagesPerSession === undefined ? {} : { messagesPerSession }) }
  const settings = settingsOf({ counts, rates, order: 'created' })
  const times = Array.from({ length: state + 1 }, (_, step) => start + step * 86_400_000)
  const generator = createGenerators(settings, { times }).sessions
  return { generator, messagesPerSession: settings.counts.messagesPerSession }
}

/** The text of the session at a place. */
function sessionsIn(wanted: PagesWanted): (at: number) => string {
  const { generator } = sessionsOf(wanted)
  return (at) => {
    const life = generator.population.at(at)
    if (life === undefined) throw new Error(`there is no session at ${at}`)
    return JSON.stringify(generator.record(life, generator.idOf(life)))
  }
}

async function write(handle: FileHandle, body: Uint8Array): Promise<number> {
  await handle.write(body)
  return body.byteLength
}

/** Where a body stands in a file. */
export type Place = { start: number; length: number }

/** Where the body of a page stands. */
export function placeOf({ ends }: PagesFile, page: number): Place {
  const start = page === 0 ? 0 : (ends[page - 1] as number)
  return { start, length: (ends[page] as number) - start }
}

/** The body at a place of an open file. */
export function bodyAt(descriptor: number, { start, length }: Place): Buffer {
  const body = Buffer.allocUnsafe(length)
  readSync(descriptor, body, 0, length, start)
  return body
}
