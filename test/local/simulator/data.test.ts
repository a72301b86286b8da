import { afterEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { resourceNames, type SimulatorOptions } from '../../../lib/local/simulator/options.ts'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { Computer } from '../../../lib/platform/schemas/computer.ts'
import { EnterpriseControlRevision, EnterpriseSettings } from '../../../lib/platform/schemas/enterprise-controls.ts'
import { Message } from '../../../lib/platform/schemas/message.ts'
import { OrganizationUser } from '../../../lib/platform/schemas/organization-user.ts'
import { ReadinessReport } from '../../../lib/platform/schemas/readiness-report.ts'
import { Session, SessionSettings } from '../../../lib/platform/schemas/session.ts'
import { ask, idFields, paths, type Row, scan, scanAll } from './ask.ts'

const running: Simulator[] = []
async function start(options: SimulatorOptions = {}) {
  const sim = await startSimulator(options)
  running.push(sim)
  return sim
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((sim) => sim.close()))
})

function byId(rows: Row[], field: string) {
  return new Map(rows.map((row) => [row[field], row]))
}

describe.each(['created', 'shuffled'] as const)('a platform in %s order', (order) => {
  it('lists every record exactly once, before and after its clock moved', async () => {
    const sim = await start({ order, counts: { sessions: 777, reports: 101 } })
    for (const _ of [0, 1, 2]) {
      const all = await scanAll(sim)
      for (const name of resourceNames) {
        const ids = new Set(all[name]?.map((row) => row[idFields[name]]))
        expect([name, ids.size, all[name]?.length]).toEqual([name, sim.state().records[name], ids.size])
      }
      sim.advance()
    }
  })

  it('is the same for the same options, and another for another seed', async () => {
    const counts = { sessions: 250, users: 250, reports: 60 }
    const [a, b, c] = [
      await start({ order, counts, seed: 7 }),
      await start({ order, counts, seed: 7 }),
      await start({ order, counts, seed: 8 }),
    ]
    for (const sim of [a, b, c]) sim.advance({ hours: 5 })
    const first = await scanAll(a)
    expect(await scanAll(b)).toEqual(first)
    const other = byId((await scanAll(c)).sessions ?? [], 'sessionId')
    expect(first.sessions?.filter(({ sessionId }) => other.has(sessionId))).toEqual([])
  })

  it('changes, adds and removes by the rates', async () => {
    const rates = { changed: 0.1, added: 0.04, removed: 0.03 }
    const startedAt = Date.UTC(2026, 4, 1)
    const sim = await start({ order, startedAt, counts: { sessions: 3000 }, rates: { sessions: rates } })
    const before = byId(await scan(sim, paths.sessions), 'sessionId')
    sim.advance({ hours: 6 })
    const after = byId(await scan(sim, paths.sessions), 'sessionId')
    const stayed = [...after].filter(([id]) => before.has(id))
    const changed = stayed.filter(([id, row]) => JSON.stringify(row) !== JSON.stringify(before.get(id)))
    const gone = [...before.keys()].filter((id) => !after.has(id)).length
    expect(after.size - stayed.length).toBeGreaterThan(100)
    expect(after.size - stayed.length).toBeLessThanOrEqual(120)
    expect(gone / 3000).toBeCloseTo(0.03, 1)
    expect(gone).toBeGreaterThan(45)
    expect(changed.length / stayed.length).toBeCloseTo(0.1, 1)
    for (const [id, row] of changed) {
      expect(before.get(id)?.updatedAt as number).toBeLessThanOrEqual(startedAt)
      expect(row.updatedAt as number).toBeGreaterThan(startedAt)
      expect(row.updatedAt as number).toBeLessThanOrEqual(Date.parse(sim.state().now))
    }
  })

  it('stands still when all rates are 0', async () => {
    const none = { changed: 0, added: 0, removed: 0 }
    const sim = await start({
      order,
      counts: { sessions: 250, users: 250, reports: 60 },
      rates: { reports: none, sessions: none, users: none, revisions: none, computers: none },
    })
    const before = await scanAll(sim)
    sim.advance()
    expect(await scanAll(sim)).toEqual(before)
  })
})

it('goes on behind the last page when records go between two pages', async () => {
  const sim = await start({ counts: { users: 60 } })
  const first = (await ask(sim, `${paths.users}?limit=20`)).body as { users: Row[]; pagination: { nextCursor: string } }
  for (const { id } of first.users.slice(0, 5)) sim.remove('users', id as string)
  const second = (await ask(sim, `${paths.users}?limit=100&cursor=${first.pagination.nextCursor}`)).body.users as Row[]
  expect(second).toHaveLength(40)
})

it('goes on behind a report that is gone by now', async () => {
  const sim = await start({ counts: { reports: 10 } })
  const first = (await ask(sim, `${paths.reports}?limit=4`)).body.reports as Row[]
  sim.remove('reports', first[3]?.reportId as string)
  const { body } = await ask(sim, `${paths.reports}?limit=50&startAfter=${first[3]?.reportId}`)
  expect(body.reports).toHaveLength(6)
})

it('only ever appends revisions, and changes a little from one to the next', async () => {
  const sim = await start({ counts: { revisions: 30 } })
  const before = await scan(sim, paths.revisions)
  sim.advance()
  const after = await scan(sim, paths.revisions)
  expect(after.slice(0, 30)).toEqual(before)
  expect(after.map(({ revision }) => revision)).toEqual(after.map((_, n) => n + 1))
  for (const [n, { settings }] of after.entries()) {
    const previous = after[n - 1]?.settings as Row | undefined
    if (!previous) continue
    const keys = new Set([...Object.keys(settings as Row), ...Object.keys(previous)])
    const differing = [...keys].filter(
      (key) => JSON.stringify((settings as Row)[key]) !== JSON.stringify(previous[key]),
    )
    expect(differing.length).toBeLessThanOrEqual(1)
  }
  const texts = after.map(({ settings }) => JSON.stringify(settings))
  expect(new Set(texts).size).toBeGreaterThan(25)
})

it('sends records that its schemas accept, with every optional field here and missing there', async () => {
  const sim = await start({ counts: { computers: 60, revisions: 90, messagesPerSession: 12 } })
  const { reports = [], sessions = [], users = [], revisions = [], computers = [] } = await scanAll(sim)
  const messages: Row[] = []
  for (const { sessionId } of sessions.slice(0, 60)) {
    messages.push(...(await scan(sim, `${paths.sessions}/${sessionId}/messages`)))
  }
  const settings = (rows: Row[], field: string) =>
    rows.map((row) => row[field]).filter((value) => value != null) as Row[]
  const samples: [string, z.ZodObject, Row[]][] = [
    ['report', ReadinessReport, reports],
    ['session', Session, sessions],
    ['session settings', SessionSettings, settings(sessions, 'sessionSettings')],
    ['user', OrganizationUser, users],
    ['revision', EnterpriseControlRevision, revisions],
    ['enterprise settings', EnterpriseSettings, settings(revisions, 'settings')],
    ['computer', Computer, computers],
    ['message', Message, messages],
  ]
  // The schema would do without these, but credit limits and the audit trail live off them.
  const always = new Set(['user.email', 'revision.updatedAt'])
  const faults: string[] = []
  for (const [name, schema, rows] of samples) {
    for (const row of rows) {
      const { error } = schema.safeParse(row)
      if (error) faults.push(`${name}: ${error.message}`)
    }
    for (const [field, type] of Object.entries(schema.shape)) {
      if (!rows.some((row) => row[field] != null)) faults.push(`${name}.${field} never occurs`)
      const optional = (type as z.ZodType).safeParse(undefined).success
      if (optional && !always.has(`${name}.${field}`) && rows.every((row) => field in row))
        faults.push(`${name}.${field} is never missing`)
    }
    const unknown = new Set(rows.flatMap((row) => Object.keys(row)).filter((field) => !(field in schema.shape)))
    if (unknown.size > 0) faults.push(`${name} has unknown ${[...unknown]}`)
  }
  expect(faults).toEqual([])
})

it('has empty lists when it holds nothing', async () => {
  const sim = await start({ counts: { reports: 0, sessions: 0, users: 0, revisions: 0, computers: 0 } })
  expect(await scanAll(sim)).toEqual({ reports: [], sessions: [], users: [], revisions: [], computers: [] })
})

it('finds a record by its id wherever it stands in the list', async () => {
  const sim = await start({ order: 'shuffled', counts: { sessions: 120 } })
  sim.advance()
  for (const row of await scan(sim, paths.sessions)) {
    expect((await ask(sim, `${paths.sessions}/${row.sessionId}`)).body).toEqual(row)
  }
})
