import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../lib/core/canonical-json.ts'
import { type Json, parseJson } from '../../lib/core/json.ts'
import { createRedactor, isRedacted } from '../../lib/redaction/redact.ts'
import { cpuMs } from '../support/cpu.ts'

const redactor = createRedactor('a key of the tests')
function redact(record: Json, secretPaths: readonly string[]) {
  return redactor.redact(record, { secretPaths })
}
const none: string[] = []
const fingerprint = expect.stringMatching(/^redacted:hmac-sha256:[0-9a-f]{16}$/)
function of(secret: string) {
  return (redact({ password: secret }, none) as { password: string }).password
}

describe('secrets by the name of their key', () => {
  it('are replaced at any depth, in any case, with everything below them (AUD-05)', () => {
    const record = { sso: { ClientSecret: 's1' }, keys: [{ value: 's2' }], Password: 's3' }
    expect(redact(record, none)).toEqual({
      sso: { ClientSecret: fingerprint },
      keys: [{ value: fingerprint }],
      Password: fingerprint,
    })
  })

  it.each([
    'apiKey',
    'api_key',
    'API-KEY',
    'x-api-key',
    'clientSecret',
    'passwd',
    'sshPassphrase',
    'Authorization',
    'bearerValue',
    'cloudCredentialExport',
    'privateKey',
    'AWS_ACCESS_KEY_ID',
    'refresh_token',
    'Set-Cookie',
    'keys',
    'KEYS',
  ])('are known from the name %s', (name) => {
    expect(redact({ a: [{ [name]: 'x' }] }, none)).toEqual({ a: [{ [name]: fingerprint }] })
  })

  it.each(['key', 'keyboard', 'altVendorThoughtSignature', 'signature', 'model', 'enabledPlugins', 'monkeys'])(
    'are not suspected under the name %s',
    (name) => {
      const record = { [name]: 'x' }
      expect(redact(record, none)).toBe(record)
    },
  )

  it('include numbers, also those that a double cannot hold', () => {
    const record = parseJson('{"password":1234,"secret":{"pin":12345678901234567890}}')
    expect(redact(record, none)).toEqual({ password: of('1234'), secret: { pin: of('12345678901234567890') } })
  })

  it('do not include counts of tokens, booleans or null', () => {
    const usage = { inputTokens: 5, platformCredits: 7 }
    const record = {
      maxOutputTokens: 4096,
      tokenUsage: usage,
      childInclusiveTokenUsageBySessionId: { s1: usage },
      restrictApiKeyCreationToManagers: true,
      apiKey: null,
    }
    expect(redact(record, none)).toBe(record)
  })

  it('include strings beside counts of tokens, and what is secret by itself among them', () => {
    const record = { tokenUsage: { note: 's1', input: 1, password: 2 }, tokens: ['s2', 3] }
    expect(redact(record, none)).toEqual({
      tokenUsage: { note: of('s1'), input: 1, password: of('2') },
      tokens: [of('s2'), 3],
    })
  })
})

describe('secrets by declared path', () => {
  it('are replaced with all scalars below them', () => {
    const record = {
      settings: { customModels: [{ apiKey: 's1', extraHeaders: { 'x-org': 's2', deep: [{ n: 5 }] }, model: 'm' }] },
    }
    expect(redact(record, ['settings.customModels[].apiKey', 'settings.customModels[].extraHeaders.*'])).toEqual({
      settings: {
        customModels: [{ apiKey: of('s1'), extraHeaders: { 'x-org': of('s2'), deep: [{ n: of('5') }] }, model: 'm' }],
      },
    })
  })

  it('are found below an outer object that the path leaves out', () => {
    const record = { a: { b: { hostedProvider: { cloudAuthRefresh: 's1', cloudRegion: 'r' } } } }
    expect(redact(record, ['hostedProvider.cloudAuthRefresh'])).toEqual({
      a: { b: { hostedProvider: { cloudAuthRefresh: of('s1'), cloudRegion: 'r' } } },
    })
  })

  it('are found where an object came instead of a list, and a scalar instead of an object', () => {
    expect(redact({ models: { first: { extra: 's1' } } }, ['models[].extra'])).toEqual({
      models: { first: { extra: 's1' } },
    })
    expect(redact({ models: { extra: 's1' }, extraHeaders: 's2' }, ['models[].extra', 'extraHeaders.*'])).toEqual({
      models: { extra: of('s1') },
      extraHeaders: of('s2'),
    })
  })

  it('may name any key by a star, and match again after a false start', () => {
    expect(redact({ a: { x: { b: 's1', c: 'o' }, a: { b: 's2', z: { b: 's3' } } } }, ['a.*.b'])).toEqual({
      a: { x: { b: of('s1'), c: 'o' }, a: { b: of('s2'), z: { b: of('s3') } } },
    })
  })

  it('leave siblings and near misses alone', () => {
    const record = { customModels: [{ extra: 'o' }], extraArg: { a: 'o' }, models: { apiName: 'o' } }
    expect(redact(record, ['models.extra', 'extraArgs.*'])).toBe(record)
  })
})

describe('credentials inside URLs', () => {
  it.each([
    ['postgres://admin:p%40ss@db.example:5432/x', `postgres://${of('admin')}:${of('p@ss')}@db.example:5432/x`],
    ['see https://u:p@w:x@h.example/a and more', `see https://${of('u')}:${of('p@w:x')}@h.example/a and more`],
    ['https://ghx_123@git.example/o/r', `https://${of('ghx_123')}@git.example/o/r`],
    ['https://h.example/cb?a=1&access_token=s1&b=2', `https://h.example/cb?a=1&access_token=${of('s1')}&b=2`],
    ['/relative?api-key=s1#x', `/relative?api-key=${of('s1')}#x`],
    ['https://h.example/#Password=s%201', `https://h.example/#Password=${of('s 1')}`],
  ])('are replaced in %s', (text, clean) => {
    expect(redact({ repoUrl: text }, none)).toEqual({ repoUrl: clean })
  })

  it.each([
    'https://git.example/org/repo',
    'ssh://git@git.example/org/repo',
    'https://registry.example/@scope/package?tab=readme',
    'what? a token=1 is here',
    'a@b.example',
  ])('are not suspected in %s', (text) => {
    const record = { text }
    expect(redact(record, none)).toBe(record)
  })

  it('take linear time to look for', () => {
    // Of the processor: the clock counts other processes, too.
    const hostile = [
      '://'.repeat(300_000),
      `://${'a'.repeat(900_000)}`,
      '?a'.repeat(300_000),
      `?${'&='.repeat(300_000)}`,
    ]
    const redacting = () => {
      for (const text of hostile) redact({ text }, none)
    }
    expect(cpuMs(redacting)).toBeLessThan(10_000)
  })
})

describe('a redactor', () => {
  it('shows equal secrets as equal, a rotated one as different, and all differently under another key', () => {
    const text = canonicalJson(
      redact({ a: { apiKey: 's1' }, url: 'x://u:s1@h', b: { token: 's1' }, c: { token: 's2' } }, none),
    )
    expect(text.split(of('s1'))).toHaveLength(4)
    expect(of('s1')).not.toBe(of('s2'))
    expect(createRedactor(Buffer.from('other')).redact({ password: 's1' }, { secretPaths: none })).not.toEqual({
      password: of('s1'),
    })
  })

  it('takes no empty key', () => {
    expect(() => createRedactor('')).toThrow(/REDACTION_KEY/)
  })

  it('knows its own work', () => {
    expect(isRedacted(of('s1'))).toBe(true)
    expect(isRedacted('redacted:hmac-sha256:xyz')).toBe(false)
  })

  it('keeps a key named __proto__ a key', () => {
    const clean = redact(parseJson('{"__proto__":{"password":"s1"},"constructor":{"secret":"s2"}}'), none)
    expect(canonicalJson(clean)).toBe(`{"__proto__":{"password":"${of('s1')}"},"constructor":{"secret":"${of('s2')}"}}`)
  })

  it('changes nothing twice, and never its input', () => {
    const key = fc.constantFrom('a', 'b', 'apiKey', 'tokenUsage', 'tokens', 'keys', 'headers', '__proto__')
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('x://u:p@h/?token=1&a=2', 'https://t@h', '?secret=%zz', 'redacted:hmac-sha256:0123456789abcdef'),
    )
    const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.boolean(),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
      ),
    }))
    const paths = ['headers.*', 'a[].b']
    fc.assert(
      fc.property(tree, (record) => {
        const before = canonicalJson(record)
        const once = redact(record, paths)
        expect(canonicalJson(record)).toBe(before)
        expect(redact(once, paths)).toBe(once)
      }),
    )
  })
})

describe('maps whose keys are data', () => {
  const rules = { secretPaths: none, dataMaps: ['report'] }

  it('keep values under keys that only look like the name of a secret', () => {
    const record = { report: { secret_scanning: { numerator: 1, rationale: 'No token was found.' } } }
    expect(redactor.redact(record, rules)).toBe(record)
  })

  it('hide secrets below those keys all the same, and the map counts at the top alone', () => {
    const record = { report: { api_token: { password: 's1' } }, other: { report: { token: 's2' } } }
    expect(redactor.redact(record, rules)).toEqual({
      report: { api_token: { password: fingerprint } },
      other: { report: { token: fingerprint } },
    })
  })
})
