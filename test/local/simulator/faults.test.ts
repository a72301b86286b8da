import { createServer, request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../../lib/local/simulator/simulator.ts'
import { ask, paths, type Row, send } from './ask.ts'

let sim: Simulator
beforeEach(async () => {
  sim = await startSimulator({ counts: { users: 60 } })
})
afterEach(() => sim.close())

async function statuses(requests: number, path: string = paths.users) {
  const seen: number[] = []
  for (let n = 0; n < requests; n += 1) seen.push((await ask(sim, path)).status)
  return seen
}

describe('a fault strikes', () => {
  it('only its endpoint', async () => {
    const fault = sim.fault({ endpoint: 'listUsers', kind: 'status', status: 500 })
    expect([await statuses(1), await statuses(1, paths.sessions)]).toEqual([[500], [200]])
    expect(fault.hits()).toBe(1)
    fault.remove()
    expect(await statuses(1)).toEqual([200])
  })

  it('every endpoint with *', async () => {
    sim.fault({ endpoint: '*', kind: 'status', status: 500 })
    expect([await statuses(1), await statuses(1, paths.reports)]).toEqual([[500], [500]])
    sim.clearFaults()
    expect(await statuses(1)).toEqual([200])
  })

  it.each([
    ['the n-th request', { page: 2 }, [200, 500, 200, 200]],
    ['several requests', { page: [1, 4] }, [500, 200, 200, 500]],
    ['so many times', { times: 2 }, [500, 500, 200, 200]],
    ['after so many', { after: 2, times: 1 }, [200, 200, 500, 200]],
    ['never at probability 0', { probability: 0 }, [200, 200, 200, 200]],
  ])('%s', async (_, when, expected) => {
    sim.fault({ endpoint: 'listUsers', kind: 'status', status: 500, ...when })
    expect(await statuses(4)).toEqual(expected)
  })

  it('a share of the requests that the seed decides', async () => {
    const run = async () => {
      const other = await startSimulator({ seed: 5 })
      other.fault({ endpoint: 'listUsers', kind: 'status', status: 500, probability: 0.5 })
      const seen: number[] = []
      for (let n = 0; n < 40; n += 1) seen.push((await ask(other, paths.users)).status)
      await other.close()
      return seen
    }
    const seen = await run()
    expect(seen.filter((status) => status === 500).length).toBeGreaterThan(8)
    expect(seen).toContain(200)
    expect(await run()).toEqual(seen)
  })
})

describe('an answer', () => {
  it('comes late', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'latency', ms: 60 })
    const started = performance.now()
    await statuses(1)
    expect(performance.now() - started).toBeGreaterThan(55)
  })

  it.each(['7', 'Wed, 06 May 2026 10:02:00 GMT'])('is 429 with Retry-After: %s', async (value) => {
    const rule = { kind: 'status', status: 429, headers: { 'retry-after': value }, body: { slow: 'down' } } as const
    sim.fault({ endpoint: 'listUsers', ...rule })
    const { status, headers, body } = await ask(sim, paths.users)
    expect([status, headers.get('retry-after'), body]).toEqual([429, value, { slow: 'down' }])
  })

  it('is HTML, another JSON, nothing, or raw gzip', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'html200', page: 1 })
    sim.fault({ endpoint: 'listUsers', kind: 'json200', body: { data: null }, page: 2 })
    sim.fault({ endpoint: 'listUsers', kind: 'empty204', page: 3 })
    sim.fault({ endpoint: 'listUsers', kind: 'rawGzip', page: 4 })
    const html = await ask(sim, paths.users)
    expect([html.status, html.text, html.headers.get('content-type')]).toEqual([200, '<h1>Back soon</h1>', 'text/html'])
    expect(await ask(sim, paths.users)).toMatchObject({ status: 200, body: { data: null } })
    expect(await ask(sim, paths.users)).toMatchObject({ status: 204, text: '' })
    const gzip = await ask(sim, paths.users)
    expect([gzip.status, gzip.headers.get('content-encoding'), gzip.text.charCodeAt(0)]).toEqual([200, null, 0x1f])
  })

  it('leads elsewhere', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'redirect', location: 'https://evil.example/x' })
    const { status, headers } = await ask(sim, paths.users)
    expect([status, headers.get('location')]).toEqual([302, 'https://evil.example/x'])
  })

  it('repeats the key', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'echoKey' })
    expect(await ask(sim, paths.users)).toMatchObject({ status: 403, body: { message: 'bad token Bearer sim-key' } })
  })
})

/**
 * Reads what arrives, and how the connection ended: it is open still when nothing came for a time after some bytes, or
 * when there were enough of them.
 */
function raw({ quietMs, enough = Number.POSITIVE_INFINITY }: { quietMs?: number; enough?: number } = {}) {
  return new Promise<{ status: number; declared: number; bytes: number; end: string }>((resolve) => {
    const seen = { status: 0, declared: 0, bytes: 0, end: 'open' }
    let timer: NodeJS.Timeout | undefined
    const call = request(`${sim.url}${paths.users}`, { headers: { authorization: 'Bearer sim-key' } }, (answer) => {
      seen.status = answer.statusCode ?? 0
      seen.declared = Number(answer.headers['content-length'])
      answer.on('data', (chunk: Buffer) => {
        seen.bytes += chunk.length
        clearTimeout(timer)
        if (seen.bytes >= enough) return done('open')
        if (quietMs) timer = setTimeout(() => done('open'), quietMs)
      })
      answer.on('end', () => done('end')).on('error', () => done('aborted'))
    })
    const done = (end: string) => {
      clearTimeout(timer)
      resolve({ ...seen, end })
      call.destroy()
    }
    call.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error')).end()
  })
}

describe('a delivery', () => {
  it('stalls after some bytes', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'stall', bytes: 12 })
    const { declared, ...seen } = await raw({ quietMs: 150 })
    expect(seen).toEqual({ status: 200, bytes: 12, end: 'open' })
    expect(declared).toBeGreaterThan(1000)
  })

  it('trickles', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'trickle', bytesPerChunk: 2, everyMs: 20 })
    const { declared, bytes, end } = await raw({ enough: 6 })
    expect(end).toBe('open')
    expect(bytes).toBeLessThan(declared)
  })

  it('is cut in the middle of the body', async () => {
    sim.fault({ endpoint: 'listUsers', kind: 'cut' })
    const { status, declared, bytes, end } = await raw()
    expect([status, end]).toEqual([200, 'aborted'])
    expect(bytes).toBe(declared >> 1)
  })

  it('is reset before any byte, carried out or not', async () => {
    const { email } = ((await ask(sim, paths.users)).body.users as Row[])[0] as { email: string }
    for (const handled of [false, true]) {
      const fault = sim.fault({ endpoint: 'setUserLimits', kind: 'reset', handled })
      await expect(send(sim, `PUT ${paths.limits}`, { users: [{ email, limit: 3 }] })).rejects.toThrow('fetch failed')
      expect(sim.limits.has(email)).toBe(handled)
      fault.remove()
    }
    sim.fault({ endpoint: 'listUsers', kind: 'reset' })
    expect(await raw()).toMatchObject({ bytes: 0, end: 'ECONNRESET' })
  })
})

describe('credit limits', () => {
  it('fail, go missing, or sink their group by address', async () => {
    const emails = ((await ask(sim, paths.users)).body.users as Row[]).slice(0, 3).map(({ email }) => email as string)
    const [a = '', b = ''] = emails
    const users = emails.map((email, n) => ({ email, limit: n }))
    sim.fault({ endpoint: 'setUserLimits', kind: 'limitsErrors', emails: [a.toUpperCase()], error: 'locked' })
    sim.fault({ endpoint: 'setUserLimits', kind: 'limitsOmit', emails: [b] })
    expect((await send(sim, `PUT ${paths.limits}`, { users })).body).toEqual({
      updated: users.slice(2),
      errors: [{ email: a, error: 'locked' }],
    })
    expect([...sim.limits.keys()]).toEqual(emails.slice(2))
    sim.clearFaults()
    sim.fault({ endpoint: 'setUserLimits', kind: 'limitsReject', emails: [b] })
    expect((await send(sim, `PUT ${paths.limits}`, { users })).status).toBe(400)
    expect((await send(sim, `PUT ${paths.limits}`, { users: users.slice(2) })).status).toBe(200)
    sim.clearFaults()
    sim.fault({ endpoint: 'setUserLimits', kind: 'limitsReject', emails: [b], status: 409 })
    sim.fault({ endpoint: 'setUserLimits', kind: 'limitsTooMany', most: 2 })
    expect((await send(sim, `PUT ${paths.limits}`, { users })).status).toBe(413)
    expect((await send(sim, `PUT ${paths.limits}`, { users: users.slice(0, 2) })).status).toBe(409)
  })

  it('are set, and answered oddly', async () => {
    sim.clearFaults()
    const [{ email }] = (await ask(sim, paths.users)).body.users as [{ email: string }]
    sim.fault({
      ...{ endpoint: 'setUserLimits', kind: 'limitsAnswer' },
      ...{ fields: { took: 1 }, drop: ['errors'], rows: { [email]: null } },
    })
    expect((await send(sim, `PUT ${paths.limits}`, { users: [{ email, limit: 77 }] })).body).toEqual({
      updated: [null],
      took: 1,
    })
    expect(sim.limits.get(email.toLowerCase())).toBe(77)
  })
})

it('fails to start on a port that is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  await expect(startSimulator({ port })).rejects.toThrow('EADDRINUSE')
  taken.close()
})
