import { describe, expect, it } from 'vitest'
import { diffSettings, shownValue } from '../../../lib/audit/changes/diff.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import type { Json } from '../../../lib/core/json.ts'
import { parseJson } from '../../../lib/core/json.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'

function lines(before: Json | undefined, after: Json | undefined, comparableSecrets = true) {
  return diffSettings(before, after, { comparableSecrets }).map(({ path, kind, before, after, secret }) =>
    [kind, path, shownValue(before), '->', shownValue(after), secret ? '(secret)' : '']
      .join(' ')
      .replace(/ +/g, ' ')
      .trim(),
  )
}

describe('a diff of settings', () => {
  it('names each field that differs, with before and after, and nothing else', () => {
    expect(
      lines(
        { a: { b: true, c: 1, same: [1] }, gone: 'x', big: parseJson('[12345678901234567890]') },
        { a: { b: false, c: 1, same: [1] }, 'new.one': null, big: parseJson('[12345678901234567891]') },
      ),
    ).toEqual([
      'added ["new.one"] -> null',
      'changed a.b true -> false',
      'removed big 12345678901234567890 ->',
      'added big -> 12345678901234567891',
      'removed gone x ->',
    ])
  })

  it('is empty between equal settings, whatever their order', () => {
    expect(lines({ a: 1, b: [{ id: 'x' }] }, { b: [{ id: 'x' }], a: 1 })).toEqual([])
  })

  it('shows lists of plain values as sets', () => {
    expect(lines({ list: ['a', 'b', 'b', 1] }, { list: [1, 'c', 'b'] })).toEqual([
      'removed list a ->',
      'added list -> c',
    ])
    expect(lines({ list: ['a', 'b'] }, { list: ['b', 'a', 'a'] })).toEqual([])
  })

  it('matches custom models by their id, wherever they stand in the list', () => {
    const model = (id: string, baseUrl: string) => ({ id, baseUrl, model: 'm' })
    expect(
      lines(
        { customModels: [model('m1', 'https://a'), model('m2', 'https://b'), model('m3', 'https://c')] },
        { customModels: [model('m3', 'https://c'), model('m4', 'https://d'), model('m1', 'https://x')] },
      ),
    ).toEqual([
      'changed customModels[id=m1].baseUrl https://a -> https://x',
      'removed customModels[id=m2] {"baseUrl":"https://b","id":"m2","model":"m"} ->',
      'added customModels[id=m4] -> {"baseUrl":"https://d","id":"m4","model":"m"}',
    ])
  })

  it('falls back to whole items where ids are missing or shared', () => {
    expect(lines({ x: [{ repo: 'a' }, { repo: 'b' }] }, { x: [{ repo: 'b' }] })).toEqual(['removed x {"repo":"a"} ->'])
    expect(
      lines(
        { x: [{ id: 1, a: 1 }] },
        {
          x: [
            { id: 1, a: 1 },
            { id: 1, a: 2 },
          ],
        },
      ),
    ).toEqual(['added x -> {"a":2,"id":1}'])
  })

  it('shows an object that came or went by its fields, also when it is empty', () => {
    expect(lines({}, { sandbox: { enabled: false, network: { allowedDomains: ['x'] } }, empty: {}, none: [] })).toEqual(
      [
        'added empty -> {}',
        'added none -> []',
        'added sandbox.enabled -> false',
        'added sandbox.network.allowedDomains -> x',
      ],
    )
    expect(lines({ sandbox: { enabled: true }, list: ['x'] }, {})).toEqual([
      'removed list x ->',
      'removed sandbox.enabled true ->',
    ])
    expect(lines({ a: { b: 1 } }, { a: {} })).toEqual(['removed a.b 1 ->'])
  })

  it('shows what was in a value that became another kind of value, and null as nothing where the other side holds something', () => {
    expect(lines({ a: [1], b: { c: 1 }, d: null, e: [] }, { a: 'x', b: [2], d: { e: 1 }, e: {} })).toEqual([
      'removed a 1 ->',
      'added a -> x',
      'added b -> 2',
      'removed b.c 1 ->',
      'added d.e -> 1',
      'changed e [] -> {}',
    ])
  })

  it('takes settings of any form', () => {
    expect(lines({ a: 1 }, undefined)).toEqual(['removed a 1 ->'])
    expect(lines({ a: 1 }, null)).toEqual(['removed a 1 ->'])
    expect(lines({ a: 1 }, [])).toEqual(['added (all) -> []', 'removed a 1 ->'])
    expect(lines('off', { a: 1, '(all)': 2 })).toEqual(['removed (all) off ->', 'added ["(all)"] -> 2', 'added a -> 1'])
    expect(lines('off', 5)).toEqual(['changed (all) off -> 5'])
    expect(lines(undefined, undefined)).toEqual([])
  })

  it('is bounded in depth', () => {
    const deep = (bottom: Json, levels = 5_000) => {
      let value = bottom
      for (let at = 0; at < levels; at++) value = at % 2 ? [value] : { a: value }
      return value
    }
    expect(lines({ x: deep(1), y: 1 }, { x: deep(2), y: 2 })).toEqual(['changed y 1 -> 2'])
    for (const comparable of [true, false]) {
      const changes = diffSettings(
        {},
        { deep: deep('redacted:hmac-sha256:0123456789abcdef') },
        { comparableSecrets: comparable },
      )
      expect(changes.map(({ path }) => path)).toEqual(['deep'])
      expect(shownValue(changes[0]?.after)).toContain('[nested deeper than 200 levels]')
      expect(createWatch(watchRules)(changes[0]!)).toEqual([])
    }
    // One item of a list left, and another came.
    expect(lines({ x: deep(1, 199) }, { x: deep(2, 199) })).toHaveLength(2)
  })

  it('takes keys such as __proto__ and constructor for keys', () => {
    expect(lines(parseJson('{}'), parseJson('{"__proto__":1,"constructor":2}'))).toEqual([
      'added __proto__ -> 1',
      'added constructor -> 2',
    ])
  })
})

describe('secrets in a diff', () => {
  const { redact } = createRedactor('k')
  const clean = (value: Json) => redact(value, { secretPaths: [] })

  it('show only that they changed (AUD-05)', () => {
    const before = clean({
      sso: { ClientSecret: 's1' },
      keys: [{ value: 's2' }],
      Password: 's3',
      url: 'https://u:p1@h/',
    })
    const after = clean({
      sso: { ClientSecret: 'n1' },
      keys: [{ value: 'n2' }],
      Password: 's3',
      url: 'https://u:p2@h/',
    })
    expect(lines(before, after)).toEqual([
      'removed keys {"value":"[secret]"} -> (secret)',
      'added keys -> {"value":"[secret]"} (secret)',
      'changed sso.ClientSecret [secret] -> [secret] (secret)',
      'changed url https://[secret]:[secret]@h/ -> https://[secret]:[secret]@h/ (secret)',
    ])
    const text = JSON.stringify(diffSettings(before, after, { comparableSecrets: true }))
    expect(text).not.toMatch(/s1|s2|s3|n1|n2|hmac/)
  })

  it('are not taken for changed when the redaction key changed', () => {
    const other = createRedactor('other').redact({ apiKey: 's1', a: 2 }, { secretPaths: [] })
    expect(lines(clean({ apiKey: 's1', a: 1 }), other, false)).toEqual(['changed a 1 -> 2'])
  })
})
