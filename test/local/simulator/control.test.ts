import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { ask, paths, type Row, scan, send } from './ask.ts'

let sim: Simulator
beforeEach(async () => {
  sim = await startSimulator({ counts: { sessions: 50, users: 30, computers: 5 } })
})
afterEach(() => sim.close())

// Without a key, as with plain curl.
function curl(path: string, method = 'GET', body?: string) {
  return ask(sim, path, { method, headers: {}, ...(body === undefined ? {} : { body }) })
}

it('listens on loopback only', () => {
  expect(new URL(sim.url).hostname).toBe('127.0.0.1')
})

describe('over HTTP', () => {
  it('shows its state', async () => {
    const { body } = await curl('/_simulator/state')
    expect(body).toEqual(JSON.parse(JSON.stringify(sim.state())))
    expect(body).toMatchObject({ step: 0, now: '2026-11-01T00:00:00.000Z', records: { sessions: 50, users: 30 } })
  })

  it('refuses a path that is not encoded well', async () => {
    expect((await curl('/_simulator/%zz')).status).toBe(400)
  })

  it.each([
    { kind: 'status', endpoint: 'listUsers', status: 503, tims: 1 },
    { kind: 'emptyList', endpoint: 'listUsers', keep: 3 },
    { kind: 'mutateRecord', endpoint: 'listUsers', change: { do: 'remove', field: 'id', value: 1 } },
  ])('refuses a fault with a field that it does not know: %j', async (rule) => {
    expect((await curl('/_simulator/faults', 'POST', JSON.stringify(rule))).status).toBe(400)
    expect(sim.faults()).toEqual([])
  })

  it('refuses a port that is taken, and says so', async () => {
    const port = Number(new URL(sim.url).port)
    await expect(startSimulator({ port })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(`port ${port} can't be used`),
    })
  })

  it('moves the clock', async () => {
    const { body } = await curl('/_simulator/advance', 'POST')
    expect(body).toEqual({ step: 1, now: '2026-11-02T00:00:00.000Z' })
    await curl('/_simulator/advance', 'POST', '{"hours":1.5}')
    expect(sim.state()).toMatchObject({ step: 2, now: '2026-11-02T01:30:00.000Z' })
    expect((await curl('/_simulator/advance', 'POST', '{"hours":-1}')).status).toBe(400)
  })

  it('sets, lists and removes faults', async () => {
    const { status, body } = await curl(
      '/_simulator/faults',
      'POST',
      '{"endpoint":"listUsers","kind":"status","status":503}',
    )
    expect(status).toBe(201)
    expect((await ask(sim, paths.users)).status).toBe(503)
    expect((await curl('/_simulator/faults')).body.faults).toMatchObject([
      { id: body.id, hits: 1, rule: { kind: 'status' } },
    ])
    await curl(`/_simulator/faults/${body.id}`, 'DELETE')
    expect((await ask(sim, paths.users)).status).toBe(200)
    expect((await curl(`/_simulator/faults/${body.id}`, 'DELETE')).status).toBe(404)
    sim.fault({ endpoint: '*', kind: 'html200' })
    await curl('/_simulator/faults', 'DELETE')
    expect(sim.faults()).toEqual([])
  })

  it.each(['{"endpoint":"listUsers","kind":"nonsense"}', '{"endpoint":"nowhere","kind":"html200"}', 'no json'])(
    'refuses %s as a fault',
    async (rule) => {
      expect((await curl('/_simulator/faults', 'POST', rule)).status).toBe(400)
    },
  )

  it('overrides, breaks, adds and removes a record', async () => {
    const users = await scan(sim, paths.users)
    const id = users[2]?.id
    const broken = `{"id":"${id}","metadata":{"n":9007199254740993},"lastName":"cut\\ud83d"}`
    await curl(`/_simulator/records/users/${id}`, 'PUT', broken)
    await curl('/_simulator/records/users/u-new', 'PUT', '{"id":"u-new"}')
    await curl(`/_simulator/records/users/${users[5]?.id}`, 'DELETE')
    const { text } = await ask(sim, `${paths.users}?limit=100`)
    expect(text).toContain(broken)
    expect(await scan(sim, paths.users, 4)).toHaveLength(30)
    expect(sim.state().records.users).toBe(30)
    expect((await curl(`/_simulator/records/users/${users[5]?.id}`, 'DELETE')).status).toBe(404)
    expect((await curl('/_simulator/records/nothing/x', 'PUT', '{}')).status).toBe(400)
  })

  it('answers 404 for anything else', async () => {
    expect((await curl('/_simulator/nothing')).status).toBe(404)
  })
})

describe('from code', () => {
  it('brings a removed record back when it is put again', async () => {
    const [first] = await scan(sim, paths.sessions)
    const id = first?.sessionId as string
    expect(sim.remove('sessions', id)).toBe(true)
    expect((await ask(sim, `${paths.sessions}/${id}`)).status).toBe(404)
    expect(sim.remove('sessions', id)).toBe(false)
    sim.put('sessions', id, { value: { ...first, title: 'back' } })
    expect(((await scan(sim, paths.sessions))[0] as Row).title).toBe('back')
    expect(sim.get('sessions', id)).toMatchObject({ title: 'back' })
  })

  it('overrides a revision by its number', async () => {
    sim.put('revisions', '3', { value: { revision: 3, settings: {} } })
    expect((await scan(sim, paths.revisions))[2]).toEqual({ revision: 3, settings: {} })
  })

  it('frees its port when it is closed, open connections or not', async () => {
    const other = await startSimulator()
    other.fault({ endpoint: 'listUsers', kind: 'stall' })
    const pending = ask(other, paths.users).catch(() => 'gone')
    await expect.poll(() => other.counts.listUsers).toBe(1)
    await other.close()
    expect(await pending).toBe('gone')
    await expect(send(other, `PUT ${paths.limits}`, {})).rejects.toThrow('fetch failed')
  })
})
