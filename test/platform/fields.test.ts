import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../lib/core/json.ts'
import {
  dateTime,
  formOf,
  freeForm,
  id,
  integer,
  jsonText,
  knownValuesOf,
  openEnum,
  resource,
  timeText,
  unixMs,
} from '../../lib/platform/fields.ts'
import { parseTime } from '../../lib/platform/times.ts'

const noon = Date.UTC(2026, 4, 6, 12)

describe('times as strings', () => {
  it.each([
    ['2026-05-06T12:00:00Z', noon],
    ['2026-05-06T12:00:00.000Z', noon],
    ['2026-05-06T14:00:00+02:00', noon],
    ['2026-05-06T12:00:00', noon],
    ['2026-05-06 12:00:00', noon],
    ['2026-05-06', Date.UTC(2026, 4, 6)],
    [`${noon}`, noon],
  ])('%s is understood', (text, ms) => {
    expect(parseTime(text)).toBe(ms)
  })

  it.each(['', 'soon', '1.5', '-3', '2026', '2026-13-01', '1778068800', '1999-12-31T23:59:59Z', '2100-01-01', '12:00'])(
    '%j is none that we understand',
    (text) => {
      expect(parseTime(text)).toBeNull()
      expect(dateTime().safeParse(text).success).toBe(false)
    },
  )

  it.each([
    ['2026-05-06T14:00:00+02', noon],
    ['2026-05-06 12:00:00.123456+00', noon + 123],
    ['2026-05-06 12:00:00 +0000', noon],
    ['2026-05-06T12:00:00,5Z', noon + 500],
    ['2026-05-06t12:00:00z', noon],
    ['2026-05-06T12:00:00.123456789Z', noon + 123],
    ['2026-05-06T12:00Z', noon],
    ['2026-05-06T06:15:00-05:45', noon],
    ['20260506T120000Z', noon],
    ['20260506T120000.25+0000', noon + 250],
    ['20260506', Date.UTC(2026, 4, 6)],
    ['2026-05-06T24:00:00Z', Date.UTC(2026, 4, 7)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
  ])('%s is a usual form (TIME-04)', (text, ms) => {
    expect(parseTime(text)).toBe(ms)
  })

  it.each(['2026-12-31T23:59:60Z', '2027-01-01T00:59:60.5+01', '20261231T235960Z'])(
    '%s is a leap second, read as the last millisecond of its day (TIME-04)',
    (text) => {
      expect(parseTime(text)).toBe(Date.UTC(2027, 0, 1) - 1)
    },
  )

  it.each([
    '2026-02-30',
    '2026-02-29T10:00:00Z',
    '2026-04-31',
    '2026-00-10',
    '2026-05-00',
    '2026-05-06T25:00:00Z',
    '2026-05-06T24:00:01Z',
    '2026-05-06T10:60:00Z',
    '2026-05-06T10:00:61Z',
    '2026-05-06T10:00:60Z',
    '2026-05-06T10:00:00+24:00',
    '2026-05-06T10:00:00+02:60',
    '2026-05-06T10:00:00.Z',
    '2026-05-06T10:00:00Z and more',
    '20260230',
  ])('%s is no time: neither the calendar nor the clock has it (TIME-04)', (text) => {
    expect(parseTime(text)).toBeNull()
  })

  it('without an offset are UTC, whatever the zone of the machine', () => {
    const times = fileURLToPath(new URL('../../lib/platform/times.ts', import.meta.url))
    const code = `import { parseTime } from ${JSON.stringify(times)}; console.log(parseTime('2026-05-06T12:00:00'))`
    const env = { ...process.env, TZ: 'America/St_Johns' }
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { env }).toString().trim()).toBe(
      `${noon}`,
    )
  })
})

describe('fields', () => {
  it('take no seconds for milliseconds, and no time outside of 2000 to 2100', () => {
    expect(unixMs().safeParse(noon).success).toBe(true)
    for (const wrong of [noon / 1000, -1, 0, noon * 1000, noon + 0.5, `${noon}`, null]) {
      expect(unixMs().safeParse(wrong).success).toBe(false)
    }
  })

  it('take any text for a time whose format is not shown', () => {
    for (const text of ['2026-05-06T12:00:00Z', 'soon', '']) expect(timeText().safeParse(text).success).toBe(true)
    expect(timeText().safeParse(noon).success).toBe(false)
  })

  it('say what form their values have, also once they are described', () => {
    const schemas = [unixMs(), dateTime(), timeText(), jsonText(), integer()]
    const forms = ['unix_ms', 'date_time', 'time_text', 'json_text', undefined]
    expect(schemas.map(formOf)).toEqual(forms)
    expect(schemas.map((schema) => formOf(schema.describe('A field.')))).toEqual(forms)
  })

  it('take no number for an object, not even one that is kept as its digits', () => {
    const digits = parseJson('12345678901234567890')
    for (const object of [resource(() => ({ a: id().optional() })), freeForm(), freeForm().describe('of a field')]) {
      expect(object.safeParse(digits).error?.issues[0]?.message).toContain('where an object is expected')
      expect(object.safeParse({ b: digits }).data).toEqual({ b: digits })
    }
  })

  it('take integers that a double holds, and ids that are not empty', () => {
    expect(integer().safeParse(2 ** 53 - 1).success).toBe(true)
    expect(integer().safeParse(2 ** 53).success).toBe(false)
    expect(id().safeParse('').success).toBe(false)
  })

  it('keep unknown keys and unknown values of an enumeration, and know which are known', () => {
    const schema = resource(() => ({ status: openEnum('idle', 'running') }))
    expect(schema.parse({ status: 'paused', later: [1] })).toEqual({ status: 'paused', later: [1] })
    expect(knownValuesOf(schema.shape.status)).toEqual(['idle', 'running'])
    expect(knownValuesOf(id())).toBeUndefined()
  })
})
