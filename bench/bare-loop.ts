import { answering } from './processes.ts'

/** What a process took, from its start to its answer. */
export type Cost = { seconds: number; cpuSeconds: number; peakMegabytes: number }

/** The least that any client must do: ask for each page and parse it, one after the other, over one connection. */
answering(async ({ baseUrl }: { baseUrl: string }): Promise<Cost & { records: number }> => {
  const began = performance.now()
  let records = 0
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const response = await fetch(`${baseUrl}/api/v0/sessions?limit=100${query}`, {
      headers: { authorization: 'Bearer sim-key' },
    })
    const { sessions, pagination } = (await response.json()) as {
      sessions: unknown[]
      pagination: { hasMore: boolean; nextCursor: string }
    }
    records += sessions.length
    cursor = pagination.hasMore ? pagination.nextCursor : null
  } while (cursor !== null)
  const { user, system } = process.cpuUsage()
  const peakMegabytes = process.resourceUsage().maxRSS / 1024
  return { records, seconds: (performance.now() - began) / 1000, cpuSeconds: (user + system) / 1e6, peakMegabytes }
})
