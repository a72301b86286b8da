import { describe, expect, it } from 'vitest'
import { type Json, parseJson } from '../../../lib/core/json.ts'
import { isHashed, lengthOf } from '../../../lib/core/stand-ins.ts'
import { createProtector } from '../../../lib/redaction/personal/protect.ts'
import { type ContentRules, defaultContents } from '../../../lib/redaction/personal/writing.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'

const key = 'k'.repeat(32)
const kind = {
  name: 'notes',
  secretPaths: [],
  writing: { role: 'role', roles: ['user', 'assistant'], ids: ['id'], facts: ['at', 'phase', 'parentId', 'isError'] },
}
const planted = 'Erika Mustermann'
const token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
const bytes = Buffer.from(planted.repeat(20)).toString('base64')

function protecting(rules: Partial<ContentRules>, fields = {}) {
  const contents = { ...defaultContents, ...rules }
  const protect = createProtector({ redactor: createRedactor(key), key, privacy: { contents, fields } })
  return (record: Json) => protect(record, kind) as { [name: string]: Json }
}

/** A record with the planted name in every place that could hold it. */
const record = {
  id: 'n 1',
  role: 'user',
  at: 1_748_411_762_359,
  phase: 'final_answer',
  parentId: 'n0',
  isError: false,
  summary: `about ${planted}`,
  sealed: Buffer.from(planted).toString('base64'),
  unknown: { deep: [{ [planted]: planted }], phone: 49_123 },
  [planted]: 'a key',
  content: [
    { type: 'text', id: 'b0', text: `${planted} says ${token}` },
    { type: 'tool_use', id: 't1', name: planted, input: { who: planted, [planted]: 1, phone: 49_123 } },
    { type: 'tool_result', content: [{ type: 'text', text: planted }, planted] },
    { type: planted, [planted]: planted },
    { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: bytes } },
    planted,
    [planted],
  ],
} satisfies Json

describe('what people and models wrote', () => {
  it('is kept without its secrets and files, which is the default', () => {
    const kept = protecting({})(record)
    const text = JSON.stringify(kept)
    expect(text).toContain(`${planted} says redacted:hmac-sha256:`)
    expect(text).not.toContain(token)
    expect(text).not.toContain(bytes)
    expect(text).toMatch(/attachment:image\/png:320:sha256:[0-9a-f]{64}/)
    expect(kept.summary).toBe(`about ${planted}`)
  })

  it('is length and fingerprint only where it is hashed, in every field that is no fact', () => {
    const kept = protecting({ content: 'hashed' })(record)
    const text = JSON.stringify(kept)
    for (const part of [planted, token, bytes, bytes.slice(10, 30), '49123', record.sealed]) {
      expect(text).not.toContain(part)
    }
    expect(kept).toMatchObject({ id: 'n 1', role: 'user', at: record.at, phase: 'final_answer', isError: false })
    expect(isHashed(kept.summary)).toBe(true)
    expect(lengthOf(kept.summary as string)).toBe(record.summary.length)
    expect(kept.content).toMatchObject([
      { type: 'text', id: 'b0', text: expect.stringMatching(/^hashed:/) },
      { type: 'tool_use', id: 't1', input: expect.stringMatching(/^hashed:/) },
      { type: 'tool_result', content: [{ type: 'text', text: expect.stringMatching(/^hashed:/) }, expect.anything()] },
      expect.stringMatching(/^hashed:/),
      { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: expect.stringMatching(/^hashed:/) } },
      expect.stringMatching(/^hashed:/),
      [expect.stringMatching(/^hashed:/)],
    ])
  })

  it('is hashed to the same text where it is the same, and once only', () => {
    const protect = protecting({ content: 'hashed' })
    const kept = protect(record)
    expect(protect(record)).toEqual(kept)
    expect(protect(kept)).toEqual(kept)
    const other = createProtector({
      redactor: createRedactor('another key'),
      key: 'another key',
      privacy: { contents: { ...defaultContents, content: 'hashed' }, fields: {} },
    })
    expect((other(record, kind) as typeof kept).summary).not.toBe(kept.summary)
  })

  it('is kept as it came where it is to be full, files apart; facts still lose their secrets', () => {
    const kept = protecting({ content: 'full' })({ ...record, phase: token })
    const text = JSON.stringify(kept)
    expect(text).toContain(`${planted} says ${token}`)
    expect(text).not.toContain(bytes)
    expect(kept.phase).toMatch(/^redacted:/)
    expect(protecting({ content: 'full', attachments: 'kept' })(record)).toEqual(record)
  })

  it('follows the choice of its role', () => {
    const protect = protecting({ roles: { user: 'hashed', assistant: 'full' } })
    expect(isHashed(protect(record).summary)).toBe(true)
    expect(protect({ ...record, role: 'assistant' }).summary).toBe(record.summary)
    expect(JSON.stringify(protect({ ...record, role: 'assistant' }))).toContain(token)
  })

  it.each<Json>(['human', null, { user: planted }, 5])(
    'has the strictest choice of all in a role that nobody knows: %j',
    (role) => {
      expect(isHashed(protecting({ roles: { assistant: 'hashed' } })({ ...record, role }).summary)).toBe(true)
      expect(isHashed(protecting({ content: 'full', roles: { user: 'redacted' } })({ ...record, role }).summary)).toBe(
        false,
      )
      const text = JSON.stringify(protecting({ content: 'full', roles: { user: 'redacted' } })({ ...record, role }))
      expect(text).not.toContain(token)
    },
  )

  it.each<Json>([planted, [planted], null, 5])('is all of a record that is no object: %j', (odd) => {
    expect(JSON.stringify(protecting({ content: 'hashed' })(odd))).not.toContain(planted)
    expect(JSON.stringify(protecting({ content: 'full', roles: { user: 'hashed' } })(odd))).not.toContain(planted)
  })

  it('is found in a fact that holds what no such field holds', () => {
    const kept = protecting({ content: 'hashed' })({
      ...record,
      phase: planted,
      parentId: '请修复测试',
      isError: [planted],
    })
    expect([kept.phase, kept.parentId, kept.isError].every(isHashed)).toBe(true)
  })

  it('keeps its digits from being rounded', () => {
    const exact = parseJson('{"id":"a","role":"user","content":[{"type":"text","n":9007199254740993}]}')
    expect(JSON.stringify(protecting({})(exact))).toContain('9007199254740993')
    expect(JSON.stringify(protecting({ content: 'hashed' })(exact))).not.toContain('9007199254740993')
  })

  it('never changes the record that came', () => {
    const before = JSON.stringify(record)
    for (const content of ['redacted', 'hashed', 'full'] as const) protecting({ content })(record)
    expect(JSON.stringify(record)).toBe(before)
  })
})

describe('fields that an installation hashes or drops', () => {
  const user = {
    id: 'u1',
    email: 'erika@acme.example',
    name: null,
    metadata: { team: 'core', level: 3, tags: ['a', 'b'] },
    list: [{ who: 'Erika', at: 1 }, { who: 'Max' }, 'odd'],
    map: { a: { who: 'Erika' }, b: { who: 'Max' } },
  }
  function kept(rules: { [path: string]: 'keep' | 'hash' | 'drop' }) {
    const privacy = { contents: defaultContents, fields: { users: rules } }
    const protect = createProtector({ redactor: createRedactor(key), key, privacy })
    return protect(user, { name: 'users', secretPaths: [] }) as { [name: string]: Json }
  }

  it('are replaced by a fingerprint, or gone; others stay', () => {
    const { email, name, ...rest } = kept({ email: 'hash', name: 'hash', id: 'keep', metadata: 'drop' })
    expect([isHashed(email), name]).toEqual([true, null])
    expect(rest).toEqual({ id: 'u1', list: user.list, map: user.map })
  })

  it('are found by path in objects, lists and maps', () => {
    const record = kept({
      'list[].who': 'hash',
      'map.*.who': 'drop',
      'metadata.tags[]': 'drop',
      'metadata.team': 'hash',
    })
    expect(record.list).toEqual([{ who: expect.stringMatching(/^hashed/), at: 1 }, expect.anything(), 'odd'])
    expect(record.map).toEqual({ a: {}, b: {} })
    expect(record.metadata).toEqual({ team: expect.stringMatching(/^hashed/), level: 3, tags: [] })
  })

  it('keep the form of lists and objects that are hashed', () => {
    expect(kept({ metadata: 'hash' }).metadata).toEqual({
      team: expect.stringMatching(/^hashed:.*:4$/),
      level: expect.stringMatching(/^hashed:.*:1$/),
      tags: [expect.stringMatching(/^hashed/), expect.stringMatching(/^hashed/)],
    })
  })

  it('have equal fingerprints for equal values, in whatever field they stand', () => {
    type Who = { who: string }
    const { list, map } = kept({ 'list[].who': 'hash', 'map.*.who': 'hash' }) as {
      list: [Who, Who]
      map: { a: Who; b: Who }
    }
    expect([list[0].who, list[1].who]).toEqual([map.a.who, map.b.who])
    expect(list[0].who).not.toBe(list[1].who)
  })

  it('are those of each shard of their stream', () => {
    const privacy = { contents: defaultContents, fields: { users: { email: 'drop' as const } } }
    const protect = createProtector({ redactor: createRedactor(key), key, privacy })
    expect(protect(user, { name: 'users/07', secretPaths: [] })).not.toHaveProperty('email')
  })

  it('are those of their stream alone', () => {
    const privacy = { contents: defaultContents, fields: { others: { email: 'drop' as const } } }
    const protect = createProtector({ redactor: createRedactor(key), key, privacy })
    expect(protect(user, { name: 'users', secretPaths: [] })).toBe(user)
  })
})
