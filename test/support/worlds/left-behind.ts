import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** The lists of the platform, by the names that answers have for them. */
export type Lists = Record<'reports' | 'changes' | 'sessions' | 'users' | 'computers', Record<string, unknown>[]>

/** A fixture of what an older version left. */
export function readLeft<T>(name: string): T {
  const file = new URL(`../../fixtures/upgrade/${name}.json.gz`, import.meta.url)
  return JSON.parse(gunzipSync(readFileSync(file)).toString())
}

/**
 * What version 0.1.0 left in a folder: two nights, three limits set and one refused, a plan, and a scan of the sessions
 * that broke off on its third page. Beside it what the platform showed on both nights.
 */
export function readLeftFolder() {
  const left = readLeft<{ platform: { before: Lists; now: Lists }; files: Record<string, string> }>('0.1.0')
  const putInto = (folder: string) => {
    for (const [name, base64] of Object.entries(left.files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), Buffer.from(base64, 'base64'))
    }
  }
  return { lists: left.platform.now, putInto }
}

/** A platform that shows these lists, and what it was asked. */
export type ShownPlatform = { address: string; asked: string[]; close(): void }

/** Sessions come in pages of so many; all else is one page. */
const pageSize = 10

/** Starts a platform that shows lists as they are at each moment. */
export async function showLists(lists: Lists): Promise<ShownPlatform> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://platform')
    asked.push(`${url.pathname}${url.search}`)
    const name = url.pathname.endsWith('history') ? 'changes' : url.pathname.split('/').at(-1)
    const list = url.pathname.endsWith('reports') ? 'reports' : (name as keyof Lists)
    const from = Number(url.searchParams.get('cursor') ?? 0)
    const paged = list === 'sessions' ? lists[list].slice(from, from + pageSize) : lists[list]
    const hasMore = list === 'sessions' && from + pageSize < lists[list].length
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        [list]: url.searchParams.has('startAfter') ? [] : paged,
        pagination: hasMore ? { hasMore, nextCursor: String(from + pageSize) } : { hasMore },
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { address: `http://127.0.0.1:${port}`, asked, close: () => void server.close() }
}

/** Which pages of the sessions were asked for, by their cursors. */
export function sessionPages({ asked }: ShownPlatform): (string | null)[] {
  const paths = asked.filter((path) => path.includes('/sessions'))
  return paths.map((path) => new URLSearchParams(path.split('?')[1]).get('cursor'))
}
