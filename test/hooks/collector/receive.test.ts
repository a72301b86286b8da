import { describe, expect, it } from 'vitest'
import { FatalError, RetryableError } from '../../../lib/core/errors.ts'
import { readMessage } from '../../../lib/hooks/collector/message.ts'
import { receive } from '../../../lib/hooks/collector/receive.ts'
import { tokensIn } from '../../../lib/hooks/collector/tokens.ts'
import { hookLimits } from '../../../lib/hooks/hook-event.ts'
import { createCollector, event, token } from './fixture.ts'

describe('a token', () => {
  it.each([
    undefined,
    '',
    token,
    'Bearer',
    'Bearer ',
    `Bearer ${token}x`,
    `Bearer ${token.slice(1)}`,
    `Basic ${token}`,
    `Bearer ${token} ${token}`,
  ])('is not %j', async (authorization) => {
    const { queue, receiveDeps } = createCollector()
    const body = Buffer.from(JSON.stringify({ events: [event()] }))
    expect(await receive({ authorization, body }, receiveDeps)).toMatchObject({ status: 401 })
    expect(queue).toEqual([])
  })

  it('may be rotated without a machine that is refused: two are valid at once, and an old one ends in minutes', async () => {
    const { clock, secret, sendRaw } = createCollector()
    const next = 'the-next-token-of-this-installation'
    const body = JSON.stringify({ events: [event()] })
    const statuses = async () =>
      Promise.all([token, next].map(async (one) => (await sendRaw(body, `Bearer ${one}`)).status))
    expect(await statuses()).toEqual([202, 401])
    secret.text = JSON.stringify({ tokens: [next, token] })
    clock.advance(60_000)
    expect(await statuses()).toEqual([202, 202])
    secret.text = JSON.stringify({ tokens: [next] })
    clock.advance(5 * 60_000)
    expect(await statuses()).toEqual([401, 202])
  })

  it('that is wrong makes nobody read the secret more than once a minute', async () => {
    const { clock, secret, sendRaw } = createCollector()
    for (let n = 0; n < 100; n++) expect((await sendRaw('{}', `Bearer guess-${n}`)).status).toBe(401)
    expect(secret.reads).toBe(1)
    clock.advance(60_000)
    for (let n = 0; n < 100; n++) await sendRaw('{}', `Bearer guess-${n}`)
    expect(secret.reads).toBe(2)
  })

  it.each(['', 'short', '{"tokens": []}', '{"tokens": "x"}', '{', `{"token": "${token}"}`])(
    'is not read from the secret %j, and the message says what to write',
    (text) => {
      expect(() => tokensIn(text)).toThrow(/holds no token: write one of 32 to 256 characters/)
    },
  )

  it('that could not be read is read again with the next request', async () => {
    const { secret, send } = createCollector()
    secret.text = ''
    await expect(send(event())).rejects.toThrow('holds no token')
    secret.text = token
    expect((await send(event())).status).toBe(202)
  })
})

describe('a request', () => {
  it('is answered with 202 once its events are on the queue, whole and in their order', async () => {
    const { queue, clock, send } = createCollector()
    const events = [event({ tool: { name: 'run', n: 1 } }), event({ hook_event_name: 'Reindexed' })]
    expect(await send(...events)).toEqual({ status: 202, body: { accepted: events.map(({ id }) => id), refused: [] } })
    expect(queue.map(({ body }) => readMessage(body))).toMatchObject([
      { receivedAt: new Date(clock.now()).toISOString(), events },
    ])
  })

  it('has a bad event refused with a reason, and its neighbours kept', async () => {
    const { queue, sendRaw } = createCollector()
    const good = event()
    const bad = [
      event({}, { id: 'no-uuid' }),
      event({ hook_event_name: 7 }),
      event({}, { occurredAt: 'yesterday' }),
      event({ deep: 'DEEP' }),
      event({ message: 'x'.repeat(2 * hookLimits.inputBytes) }),
      'text',
      null,
    ]
    const text = JSON.stringify({ events: [bad[0], good, ...bad.slice(1)] })
    const answer = await sendRaw(text.replace('"DEEP"', '['.repeat(20_000) + ']'.repeat(20_000)))
    expect(answer).toMatchObject({
      status: 202,
      body: {
        accepted: [good.id],
        refused: [
          { id: 'no-uuid', reason: expect.stringMatching(/^id: /) },
          { reason: expect.stringMatching(/^input\.hook_event_name: /) },
          { reason: expect.stringMatching(/^occurredAt: /) },
          { reason: 'is nested more than 64 levels deep' },
          { reason: expect.stringContaining('is larger than') },
          { id: '#6', reason: expect.stringMatching(/^the event: /) },
          { id: '#7' },
        ],
      },
    })
    expect(queue.flatMap(({ body }) => readMessage(body)?.events)).toEqual([good])
  })

  it('in which no event is good is answered, so that its machine forgets them, and nothing is sent', async () => {
    const { queue, send } = createCollector()
    expect(await send({ id: 'x' })).toMatchObject({ status: 202, body: { accepted: [], refused: [{ id: 'x' }] } })
    expect(queue).toEqual([])
  })

  it('that has an event twice is one event', async () => {
    const { queue, send } = createCollector()
    const one = event()
    expect(await send(one, one)).toMatchObject({ body: { accepted: [one.id] } })
    expect(queue.flatMap(({ body }) => readMessage(body)?.events)).toEqual([one])
  })

  it('has numbers that no double holds as they came', async () => {
    const { queue, sendRaw } = createCollector()
    const text = JSON.stringify({ events: [event({ big: 'BIG' })] }).replace('"BIG"', '12345678901234567890123')
    expect((await sendRaw(text)).status).toBe(202)
    expect(queue[0]?.body).toContain('12345678901234567890123')
  })

  it('is cut into messages that SQS takes', async () => {
    const { queue, send } = createCollector()
    const events = Array.from({ length: 4 }, () => event({ message: 'é'.repeat(30_000) }))
    expect(await send(...events)).toMatchObject({ status: 202, body: { accepted: { length: 4 } } })
    expect(queue.length).toBeGreaterThan(1)
    for (const { body } of queue) expect(Buffer.byteLength(body)).toBeLessThan(256 * 1024)
    expect(queue.flatMap(({ body }) => readMessage(body)?.events.map(({ id }) => id))).toEqual(
      events.map(({ id }) => id),
    )
  })

  it.each([
    ['nothing', '', 400],
    ['no JSON', 'events', 400],
    ['another form', '[]', 400],
    ['no list', '{"events": {}}', 400],
    ['no event', '{"events": []}', 400],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400],
    ['more events than one body may have', JSON.stringify({ events: Array(101).fill({}) }), 413],
    ['more bytes than one body may have', ' '.repeat(hookLimits.bodyBytes + 1), 413],
  ])('with %s is refused as a whole', async (_, body, status) => {
    const { queue, sendRaw } = createCollector()
    expect(await sendRaw(body)).toMatchObject({ status, body: { error: expect.any(String) } })
    expect(queue).toEqual([])
  })

  it('is answered with 429 and a time to wait when there are too many, and with 202 after that time', async () => {
    const { clock, send } = createCollector({ rate: { perSecond: 1, burst: 2 } })
    const answers = [await send(event()), await send(event()), await send(event())]
    expect(answers).toMatchObject([{ status: 202 }, { status: 202 }, { status: 429, retryAfterSeconds: 1 }])
    clock.advance(1_000)
    expect((await send(event())).status).toBe(202)
    expect((await send(event())).status).toBe(429)
  })

  it('is no 202 when the queue takes nothing: 503 when that may pass, an error when somebody must help', async () => {
    const { receiveDeps } = createCollector()
    const request = { authorization: `Bearer ${token}`, body: Buffer.from(JSON.stringify({ events: [event()] })) }
    const failing = (error: Error) => ({ ...receiveDeps, queue: { send: () => Promise.reject(error) } })
    const busy = new RetryableError('throttled', { code: 'storage_unavailable' })
    expect(await receive(request, failing(busy))).toMatchObject({ status: 503, retryAfterSeconds: 30 })
    const broken = new FatalError('no such queue', { code: 'configuration' })
    await expect(receive(request, failing(broken))).rejects.toThrow('no such queue')
  })
})
