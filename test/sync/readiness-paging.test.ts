import { describe, expect, it } from 'vitest'
import type { PageBody } from '../../lib/platform/paging.ts'
import { readinessReports } from '../../lib/streams/readiness-reports.ts'
import { scripted as scriptedList } from './support/source.ts'
import { createWorld } from './support/world.ts'

const { endsWith } = readinessReports.reading
function scripted(answer: (token: string | null) => PageBody) {
  return scriptedList(answer, endsWith)
}

function report(id: string) {
  return { reportId: id, createdAt: Date.UTC(2026, 0, 1), repoUrl: 'r', apps: {}, report: {} }
}

describe('the readiness list, which has no hasMore', () => {
  const reportsOf = (...ids: string[]) => ids.map(report)

  it.each([
    ['at an empty page', []],
    ['at a page without a new id', reportsOf('a', 'b')],
  ])('ends %s', async (_what, last) => {
    const world = createWorld()
    const source = scripted((token) => {
      if (token === null) return { records: reportsOf('a', 'b'), nextToken: 'b' }
      return { records: last, nextToken: last.at(-1)?.reportId ?? null }
    })
    expect(await world.sync(readinessReports, source)).toMatchObject({ status: 'complete', counts: { inserted: 2 } })
    expect(source.tokens).toEqual([null, 'b'])
  })

  it('goes on after short pages', async () => {
    const world = createWorld()
    const next: Record<string, string[]> = { '': ['a'], a: ['b', 'c'], c: ['d'], d: [] }
    const source = scripted((token) => {
      const ids = next[token ?? ''] as string[]
      return { records: reportsOf(...ids), nextToken: ids.at(-1) ?? null }
    })
    expect(await world.sync(readinessReports, source)).toMatchObject({ counts: { inserted: 4, pages: 4 } })
  })

  it('takes a broken report at the end of a page and goes on from the last one with an id', async () => {
    const world = createWorld()
    const broken = { repoUrl: 'without an id' }
    const { reading } = readinessReports
    const bodies: Record<string, unknown[]> = { '': [report('a'), broken], a: [broken, report('b')], b: [] }
    const source = scripted((token) => reading.parse({ reports: bodies[token ?? ''] } as never))
    expect(await world.sync(readinessReports, source)).toMatchObject({
      status: 'complete',
      counts: { inserted: 2, quarantined: 2, received: 4 },
    })
  })

  it('ends with a broken report that comes alone', async () => {
    const world = createWorld()
    const bodies: Record<string, unknown[]> = { '': [report('a')], a: [{ repoUrl: 'without an id' }] }
    const source = scripted((token) => readinessReports.reading.parse({ reports: bodies[token ?? ''] } as never))
    expect(await world.sync(readinessReports, source)).toMatchObject({
      status: 'complete',
      counts: { inserted: 1, quarantined: 1 },
    })
  })
})
