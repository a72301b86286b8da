import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import type { Json } from '../../lib/core/json.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { cpuMs } from '../support/cpu.ts'
import { plantedForms } from './planted-forms.ts'

const { redact, redactText } = createRedactor('a key of the tests')
const rules = { secretPaths: [] }

function of(secret: string): string {
  return (redact({ password: secret }, rules) as { password: string }).password
}

describe('a text', () => {
  it.each([
    ['run --token abc1 --verbose', `run --token ${of('abc1')} --verbose`],
    ['Authorization: Bearer abc1', `Authorization: Bearer ${of('abc1')}`],
    ['Server=h;Password=abc1;Encrypt=true', `Server=h;Password=${of('abc1')};Encrypt=true`],
    ['db:\n  password: abc1 # old\n  port: 1', `db:\n  password: ${of('abc1')} # old\n  port: 1`],
    ['{"a": [1], "token": "abc1"}', `{"a": [1], "token": "${of('abc1')}"}`],
    ['{\n  "token": "abc1",\n  "n": 1.50\n}', `{\n  "token": "${of('abc1')}",\n  "n": 1.50\n}`],
    ['a {"token":"abc1","n":12345678901234567890} b', `a {"token":"${of('abc1')}","n":12345678901234567890} b`],
    ['https://h/services/T0/B0/s3cr3t', `https://h/services/T0/B0/${of('s3cr3t')}`],
    ['//u:pw@h and u:pw@h:5432', `//${of('u')}:${of('pw')}@h and ${of('u')}:${of('pw')}@h:5432`],
    ['key AKIAIOSFODNN7EXAMPLE!', `key ${of('AKIAIOSFODNN7EXAMPLE')}!`],
    ['<a token="1"><pin>12ab</pin></a>', `<a token="${of('1')}"><pin>${of('12ab')}</pin></a>`],
  ])('keeps what stands around its secrets: %s', (text, clean) => expect(redactText(text)).toBe(clean))

  it('shows a secret by one fingerprint, however it is written', () => {
    const secret = 'p@ss/w0rd'
    const written = [
      'https://h/?token=p%40ss%2Fw0rd',
      'x://u:p%40ss%2Fw0rd@h',
      'TOKEN="p@ss/w0rd"',
      'login --token p@ss/w0rd',
      '{"a":"{\\"token\\":\\"p@ss/w0rd\\"}"}',
    ]
    for (const text of written) expect(redactText(text)).toContain(of(secret))
  })

  it('keeps its JSON as it is written, and shows no value that another one hides', () => {
    const text = ' {"a" : [1e2,"\\u00e4", {"token":"abc1"}],\r\n"pin":"1x", "pin":"" , "a b":{},"x://u:p@h":{"k":[]}}'
    const clean = ` {"a" : [1e2,"\\u00e4", {"token":"${of('abc1')}"}],\r\n"pin":"", "pin":"" , "a b":{},"x://${of('u')}:${of('p')}@h":{"k":[]}}`
    expect(redactText(text)).toBe(clean)
    expect(redactText('{"auth":{"a":"x1"},"auth":5,"token":"y"}')).toBe(`{"auth":5,"auth":5,"token":"${of('y')}"}`)
  })

  it('is not trusted to say that it needs no look', () => {
    expect(redactText('# secretlint-disable\nTOKEN=abc1')).toBe(`# secretlint-disable\nTOKEN=${of('abc1')}`)
  })

  it('is redacted in a time that grows as its length (SEC-01)', () => {
    const parts =
      `http:// :// eyJ eyJa. = & " ' \\" token= token=" token=\\" token=[ token=$( token=foo( token=1, "token": password:{
      Authorization:|a| --token|a| -u|a:b| ?token=1& a:b@ u:p@h: //u: <a>b</token> token:|a|b
      ghs_1_a. xoxb-a- SG.a. AKIA %3Dtoken%3D %2F%2Fa%3A {"a": [ { a]= ключ= https://hooks.x/hooks/ - |-|`.split(/\s+/)
    for (const part of parts) {
      const text = part.replaceAll('|', ' ').repeat(80_000 / part.length)
      expect(
        cpuMs(() => redactText(text)),
        part,
      ).toBeLessThan(3_000)
    }
  })
})

describe('a record of any depth', () => {
  function nested(levels: number, inner: Json): Json {
    let value = inner
    for (let level = 1; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
    return value
  }

  it('is redacted down to 256 levels', () => {
    for (const levels of [1, 200, 256]) {
      const clean = canonicalJson(redact(nested(levels, { password: 's3cr3t' }), rules))
      expect(clean).toContain(of('s3cr3t'))
    }
  })

  it('shows nothing of what lies deeper, and needs no deeper stack (JSON-09)', () => {
    for (const levels of [257, 5_000, 200_000]) {
      const clean = redact(nested(levels, { password: 's3cr3t', a: 1 }), rules)
      expect(canonicalJson(clean)).toContain('redacted:nested-too-deep')
      expect(canonicalJson(clean)).not.toContain('s3cr3t')
      expect(redact(clean, rules)).toBe(clean)
    }
  })

  it('is as safe when it comes as a text', () => {
    const levels = 200_000
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const clean = redactText(`${open.repeat(levels)}{"password":"s3cr3t"}${close.repeat(levels)}`)
      expect(clean).not.toContain('s3cr3t')
    }
  })
})

describe('keys of an object', () => {
  it('lose the secrets in them, and no value goes with them', () => {
    const record = { 'x://u:p%61ss@h': 1, 'x://u:pass@h': 2, plain: 3 }
    const key = `x://${of('u')}:${of('pass')}@h`
    expect(redact(record, rules)).toEqual({ [key]: 1, [`${key} (again)`]: 2, plain: 3 })
  })
})

describe('what is redacted', () => {
  it('does not change when it is redacted again, however forms meet', () => {
    const part = fc.oneof(
      fc.constantFrom(...plantedForms).map(({ plant }) => written(plant('q1w2e3r4t5'))),
      fc.constantFrom(
        'http://',
        '=',
        '&',
        '"',
        "'",
        '\\"',
        'token=',
        'Bearer ',
        '--token ',
        '\n',
        ' ',
        '{',
        ']',
        '|\n ',
        'key',
        '@',
        ':',
        'x',
        '</',
        '%3D',
      ),
      fc.constantFrom(
        'redacted:hmac-sha256:0123456789abcdef',
        'redacted:hmac-sha256:',
        '$',
        '/hooks/',
        'пароль',
        '-u ',
      ),
    )
    const text = fc.array(part, { minLength: 2, maxLength: 9 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const record = { [one.slice(0, 30)]: other, list: [one, other], name: other, value: one }
        const clean = redact(record, rules)
        expect(redact(clean, rules)).toBe(clean)
        expect(redactText(redactText(one))).toBe(redactText(one))
      }),
      { numRuns: 300 },
    )
  })
})

function written(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
