import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { Message, MessageReceipt } from '../../../lib/platform/schemas/message.ts'
import { Session } from '../../../lib/platform/schemas/session.ts'
import { ask, paths, type Row, scan, scanReports, send } from './ask.ts'

let sim: Simulator
let session: Row
let computerId: string
beforeAll(async () => {
  const rates = { sessions: { changed: 1, removed: 0 } }
  sim = await startSimulator({ apiKey: ['sim-key', 'other-key'], counts: { messagesPerSession: 8 }, rates })
  session = ((await ask(sim, paths.sessions)).body.sessions as Row[]).find((row) => row.computerId) as Row
  computerId = session.computerId as string
})
afterAll(() => sim.close())

function bearer(key: string) {
  return { headers: { authorization: `Bearer ${key}` } }
}

describe('every endpoint', () => {
  it.each([
    ['GET', paths.reports],
    ['GET', paths.revisions],
    ['GET', paths.sessions],
    ['POST', paths.sessions],
    ['GET', `${paths.sessions}/x`],
    ['PATCH', `${paths.sessions}/x`],
    ['GET', `${paths.sessions}/x/messages`],
    ['POST', `${paths.sessions}/x/messages`],
    ['GET', `${paths.sessions}/x/messages/y`],
    ['GET', paths.computers],
    ['GET', paths.users],
    ['PUT', paths.limits],
  ])('%s %s answers 401 without the right key', async (method, path) => {
    for (const headers of [{}, bearer('wrong').headers, { authorization: 'sim-key' }]) {
      const { status, body } = await ask(sim, path, { method, headers })
      expect(status).toBe(401)
      expect(body.error).toMatchObject({ code: 'unauthorized' })
    }
  })

  it('takes any of its keys', async () => {
    expect((await ask(sim, paths.computers, bearer('other-key'))).status).toBe(200)
  })

  it('answers 404 for an unknown path and 405 for an unknown method', async () => {
    expect((await ask(sim, '/api/v0/nothing')).status).toBe(404)
    expect((await ask(sim, paths.users, { method: 'DELETE' })).status).toBe(405)
  })
})

describe('lists', () => {
  it.each([paths.sessions, paths.users, paths.revisions])(
    '%s takes a limit of 1 to 100, 20 by default',
    async (path) => {
      for (const limit of ['0', '101', '-1', '1.5', 'ten', '']) {
        expect([limit, (await ask(sim, `${path}?limit=${limit}`)).status]).toEqual([limit, 400])
      }
      const rows = async (query: string) =>
        Object.values((await ask(sim, path + query)).body).find(Array.isArray)?.length
      expect([await rows(''), await rows('?limit=1')]).toEqual([20, 1])
      expect((await ask(sim, `${path}?cursor=garbage`)).body.error).toMatchObject({ code: 'invalid_cursor' })
    },
  )

  it('asks for a positive limit of readiness reports, and a known startAfter', async () => {
    expect((await ask(sim, `${paths.reports}?limit=0`)).status).toBe(400)
    expect((await ask(sim, `${paths.reports}?limit=1000`)).body.reports).toHaveLength(200)
    expect((await ask(sim, `${paths.reports}?startAfter=unknown`)).status).toBe(400)
  })

  it('filters reports by repository and sessions by computer', async () => {
    const reports = await scanReports(sim, '&repoId=repo_1')
    expect(new Set(reports.map(({ repoUrl }) => repoUrl)).size).toBe(1)
    expect(await scanReports(sim, '&repoId=repo_999')).toEqual([])
    const all = await scan(sim, paths.sessions)
    const some = await scan(sim, `${paths.sessions}?computerId=${computerId}`, 7)
    expect(some).toEqual(all.filter((row) => row.computerId === computerId))
  })

  it('sends computers without a pagination object', async () => {
    expect(Object.keys((await ask(sim, paths.computers)).body)).toEqual(['computers'])
  })

  it('clamps a page to the cap', async () => {
    const capped = await startSimulator({ pageCap: 7 })
    expect((await ask(capped, `${paths.sessions}?limit=100`)).body.sessions).toHaveLength(7)
    expect((await ask(capped, `${paths.reports}?limit=100`)).body.reports).toHaveLength(7)
    await capped.close()
  })
})

describe('sessions', () => {
  it('are created on a computer, and read and listed afterwards', async () => {
    const created = await send(sim, `POST ${paths.sessions}`, {
      computerId,
      cwd: '/work',
      sessionSettings: { model: 'm' },
    })
    expect(created.status).toBe(201)
    expect(Session.parse(created.body)).toMatchObject({
      status: 'idle',
      messageCount: 0,
      sessionSettings: { model: 'm' },
    })
    expect((await ask(sim, `${paths.sessions}/${created.body.sessionId}`)).body).toEqual(created.body)
    expect((await scan(sim, paths.sessions)).at(-1)).toEqual(created.body)
  })

  it.each([
    [400, {}],
    [400, { computerId: 5 }],
    [400, 'no object'],
    [404, { computerId: 'cmp_unknown' }],
    [400, { cwd: '' }],
    [400, { cwd: 'x'.repeat(4097) }],
    [400, { sessionSettings: { tokenUsage: {} } }],
  ])('are not created (%i) from %j', async (status, fields) => {
    const whole = typeof fields === 'object' && ('cwd' in fields || 'sessionSettings' in fields)
    const body = whole ? { computerId, ...fields } : fields
    expect((await send(sim, `POST ${paths.sessions}`, body)).status).toBe(status)
  })

  it('merge the settings of a PATCH over their own', async () => {
    const path = `${paths.sessions}/${session.sessionId}`
    const before = (await ask(sim, path)).body
    const { status, body } = await send(sim, `PATCH ${path}`, { sessionSettings: { tags: [{ name: 'new' }] } })
    expect(status).toBe(200)
    expect(body.sessionSettings).toEqual({ ...(before.sessionSettings as Row), tags: [{ name: 'new' }] })
    expect(body.updatedAt).toBeGreaterThan(before.updatedAt as number)
    expect((await send(sim, `PATCH ${paths.sessions}/unknown`, {})).status).toBe(404)
  })
})

describe('messages', () => {
  it('are as many as the session says, and can be read one by one', async () => {
    const path = `${paths.sessions}/${session.sessionId}`
    const messages = await scan(sim, `${path}/messages`, 3)
    expect(messages).toHaveLength((await ask(sim, path)).body.messageCount as number)
    for (const message of messages) {
      expect((await ask(sim, `${path}/messages/${encodeURIComponent(message.id as string)}`)).body).toEqual(message)
    }
    expect((await ask(sim, `${path}/messages/unknown`)).status).toBe(404)
    expect((await ask(sim, `${paths.sessions}/unknown/messages`)).status).toBe(404)
  })

  it('are filtered by role', async () => {
    const path = `${paths.sessions}/${session.sessionId}/messages`
    const all = await scan(sim, path)
    const users = await scan(sim, `${path}?role=user`, 1)
    expect(users).toEqual(all.filter(({ role }) => role === 'user'))
    expect((await ask(sim, `${path}?role=system`)).status).toBe(400)
  })

  it('are added at the end, and stay there when the session moves on', async () => {
    const path = `${paths.sessions}/${session.sessionId}`
    const { status, body } = await send(sim, `POST ${path}/messages`, { text: 'hello' })
    expect([status, MessageReceipt.parse(body).status]).toEqual([200, 'running'])
    sim.advance()
    const messages = await scan(sim, `${path}/messages`)
    expect(Message.parse(messages.at(-1))).toMatchObject({ id: body.messageId, role: 'user' })
    expect((await ask(sim, path)).body).toMatchObject({ messageCount: messages.length, status: 'running' })
  })

  it.each([{}, { text: 5 }, { text: 'x', images: [{ type: 'url' }] }, { text: 'x', files: [{}] }])(
    'are not added from %j',
    async (body) => {
      expect((await send(sim, `POST ${paths.sessions}/${session.sessionId}/messages`, body)).status).toBe(400)
    },
  )
})

it('counts the requests of each endpoint and logs the newest', async () => {
  const before = sim.counts.listComputers ?? 0
  await ask(sim, `${paths.computers}?a=b`)
  expect(sim.counts.listComputers).toBe(before + 1)
  expect(sim.requests.at(-1)).toEqual({
    method: 'GET',
    path: paths.computers,
    query: 'a=b',
    status: 200,
    endpoint: 'listComputers',
  })
})
