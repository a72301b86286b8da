import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HookDelivery, HookEvent, HookInput, HookReceipt, hookLimits } from '../../../lib/hooks/hook-event.ts'
import { bodyOf, receiptOf } from '../../../lib/hooks/machine/deliver.ts'
import { type EventText, eventOf, isHookEvent, isHookInput, machineLimits } from '../../../lib/hooks/machine/event.ts'

const known = { unixMs: Date.parse('2026-05-06T10:00:00.123Z'), host: 'laptop', agentVersion: '1.2.3' }

function made(input: string): EventText {
  const event = eventOf(input, known)
  if (typeof event === 'string') throw new Error(event)
  return event
}

/** Often almost right, so that both answers come up. */
function nearly(keys: string[]) {
  return fc.dictionary(fc.constantFrom(...keys), fc.oneof(fc.string(), fc.constant(null), fc.jsonValue()))
}

describe('what the command checks by hand', () => {
  it('has the limits of the collector', () => {
    expect(machineLimits).toMatchObject(hookLimits)
  })

  it('is an input when the schema says so', () => {
    const inputs = nearly(['hook_event_name', 'session_id', 'cwd', 'message', 'reason', 'more'])
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), inputs), (value) => {
        expect(isHookInput(value)).toBe(HookInput.safeParse(value).success)
      }),
    )
  })

  it('is an event only when the schema says so', () => {
    const { text } = made('{"hook_event_name":"Stop"}')
    const changes = nearly(['id', 'occurredAt', 'host', 'agentVersion', 'input', 'more'])
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), changes), (value) => {
        const event = { ...JSON.parse(text), ...(value as object | null) }
        if (isHookEvent(event)) expect(HookEvent.safeParse(event).error).toBeUndefined()
      }),
    )
    expect(isHookEvent(JSON.parse(text))).toBe(true)
    for (const wrong of [{ id: 'x' }, { occurredAt: '2026-02-30T00:00:00.000Z' }, { host: 'h'.repeat(256) }]) {
      expect(isHookEvent({ ...JSON.parse(text), ...wrong })).toBe(false)
    }
  })

  it('is a receipt when the schema says so', () => {
    const ids = fc.array(fc.oneof({ weight: 9, arbitrary: fc.string() }, fc.integer()))
    const refusals = fc.array(fc.record({ id: fc.string(), reason: fc.oneof(fc.string(), fc.constant(null)) }))
    const receipts = fc.oneof(fc.jsonValue(), fc.record({ accepted: ids, refused: refusals }, { requiredKeys: [] }))
    fc.assert(
      fc.property(receipts, (value) => {
        expect(receiptOf(JSON.stringify(value)) !== null).toBe(HookReceipt.safeParse(value).success)
      }),
    )
  })
})

describe('an event', () => {
  it('is a delivery that the collector takes, whatever the agent says in it', () => {
    const inputs = fc.record({ hook_event_name: fc.string({ unit: 'binary' }), more: fc.jsonValue() })
    fc.assert(
      fc.property(inputs, (input) => {
        const { id, text } = made(JSON.stringify(input, null, 1))
        const [event] = HookDelivery.parse(JSON.parse(bodyOf([text]))).events
        expect(event).toEqual({
          id,
          occurredAt: '2026-05-06T10:00:00.123Z',
          host: 'laptop',
          agentVersion: '1.2.3',
          input: JSON.parse(JSON.stringify(input)),
        })
      }),
    )
  })

  it('is read behind a byte order mark', () => {
    expect(JSON.parse(made('\ufeff{"hook_event_name":"Stop"}').text).input).toEqual({ hook_event_name: 'Stop' })
  })

  it('is made whatever form its other fields have', () => {
    const input = '{"hook_event_name":"Stop","session_id":7,"cwd":["/"],"message":{"text":"m"},"reason":false}'
    expect(JSON.parse(made(input).text).input).toEqual(JSON.parse(input))
    expect(isHookEvent(JSON.parse(made(input).text))).toBe(true)
  })

  it('keeps the digits of a number that a double can not hold', () => {
    expect(made('{"hook_event_name":"Stop","n":12345678901234567890}').text).toContain('12345678901234567890')
  })

  it('keeps the known fields of an input that is too large, each cut to whole characters', () => {
    const message = `${'m'.repeat(machineLimits.cutCharacters - 1)}😀${'m'.repeat(hookLimits.inputBytes)}`
    const { text } = made(JSON.stringify({ hook_event_name: 'Notification', session_id: 's', message, more: [1] }))
    expect(Buffer.byteLength(text)).toBeLessThan(hookLimits.inputBytes)
    expect(HookEvent.parse(JSON.parse(text)).input).toEqual({
      hook_event_name: 'Notification',
      session_id: 's',
      message: 'm'.repeat(machineLimits.cutCharacters - 1),
      cut_from_bytes: expect.any(Number),
    })
  })

  it.each(['', '{', '[]', 'null', '{}', '{"hook_event_name":1}', 'secret words'])(
    'is not made of %j, and the reason quotes nothing of it',
    (input) => {
      expect(eventOf(input, known)).toMatch(/^The input of \d+ bytes is no/)
      expect(eventOf(input, known)).not.toContain('secret')
    },
  )
})
