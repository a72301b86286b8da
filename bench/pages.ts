import { type FileHandle, open } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { createGenerators } from '../lib/local/simulator/generators.ts'
import { settingsOf } from '../lib/local/simulator/options.ts'

/** Bodies of a list's pages in a file, one after the other: page n stands between the n-th end and the next. */
export type PagesFile = { file: string; ends: Float64Array }

/** The list to write: how many sessions, in which state, and whether its pages are compressed. */
export type PagesWanted = { sessions: number; state: number; changedShare: number; isGzip: boolean }

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

/** The text of the session at a place. In the second state a share of the sessions has gone on. */
function sessionsIn({ sessions, state, changedShare }: PagesWanted): (at: number) => string {
  const rates = { sessions: { changed: changedShare, added: 0, removed: 0 } }
  const settings = settingsOf({ counts: { sessions }, rates, order: 'created' })
  const times = Array.from({ length: state + 1 }, (_, step) => start + step * 86_400_000)
  const generator = createGenerators(settings, { times }).sessions
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

/** Where the body of a page stands. */
export function placeOf({ ends }: PagesFile, page: number): { start: number; length: number } {
  const start = page === 0 ? 0 : (ends[page - 1] as number)
  return { start, length: (ends[page] as number) - start }
}
