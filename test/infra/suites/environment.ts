import { describe, expect, it } from 'vitest'
import type { ConfigInput } from '../../../infra/config.ts'
import { FatalError } from '../../../lib/core/errors.ts'
import { functionNamed, resolved, synthesize } from '../synthesized.ts'

/** So many schedules, which all read every stream. */
function schedules(count: number): NonNullable<ConfigInput['schedules']> {
  const names = Array.from({ length: count }, (_, i) => `schedule-${i}`)
  return Object.fromEntries(names.map((name) => [name, { expression: 'rate(1 hour)', alarmAfterHours: 3 }]))
}

/** So many rules, of some 300 bytes. */
function watchRules(count: number): NonNullable<ConfigInput['watchRules']> {
  const why = 'x'.repeat(220)
  return Array.from({ length: count }, (_, i) => ({ id: `rule-${i}`, paths: ['a.b'], severity: 'warning', why }))
}

/** What Lambda measures, as far as the template tells: the variables as one JSON object. */
function measured(name: string, input: Partial<ConfigInput>): number {
  const { Variables } = functionNamed(name, synthesize(input)).Environment as { Variables: Record<string, unknown> }
  const values = Object.entries(Variables).map(([variable, value]) => [variable, resolved(value)])
  return Buffer.byteLength(JSON.stringify(Object.fromEntries(values)))
}

/** The largest number with which the stacks are synthesized, and what synth says of one more. */
function boundOf(inputOf: (count: number) => Partial<ConfigInput>): { last: number; said: unknown } {
  for (let count = 1; ; count++) {
    try {
      synthesize(inputOf(count))
    } catch (error) {
      return { last: count - 1, said: error }
    }
  }
}

describe('what does not fit into the 4 KB of variables that a function has', () => {
  it.each([
    ['schedules', 'publish-run', (count: number) => ({ schedules: schedules(count) })],
    ['watchRules', 'sync-stream', (count: number) => ({ watchRules: watchRules(count) })],
  ])('stops synth when it is %s, with the largest parts and what to shorten', (setting, name, inputOf) => {
    const { last, said } = boundOf(inputOf)
    expect(said).toBeInstanceOf(FatalError)
    const { message } = said as FatalError
    expect(message).toMatch(`The environment of the function ${name} has `)
    expect(message).toMatch(new RegExp(`Its largest parts are:\n {2}- ${setting}: \\d{4} bytes\n`))
    expect(message).toMatch(/Shorten one of them in config\.ts by \d+ bytes/)
    // What fits fits on Lambda, and nearly all that Lambda takes fits.
    expect(measured(name, inputOf(last))).toBeLessThanOrEqual(4_096)
    expect(measured(name, inputOf(last))).toBeGreaterThan(3_500)
  })

  it('is counted together', () => {
    const network = { httpsProxy: 'http://proxy.example.com', noProxy: ['x'.repeat(1_000)] }
    const rules = watchRules(7)
    expect(() => synthesize({ network })).not.toThrow()
    expect(() => synthesize({ watchRules: rules })).not.toThrow()
    expect(() => synthesize({ network, watchRules: rules })).toThrow(/\n {2}- watchRules: .*\n {2}- network\.noProxy: /)
  })
})
