import { describe, expect, it } from 'vitest'
import { createWatch } from '../../lib/audit/changes/watch.ts'
import { watchRules } from '../../lib/audit/changes/watch-rules.ts'
import { createAuditHook, type WriteRows } from '../../lib/audit/hook.ts'
import { keyOf } from '../../lib/audit/trail/sealed.ts'
import type { Json } from '../../lib/core/json.ts'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { auditParts, revision, scan, seen, signal, stored } from './memory.ts'

type Row = Record<string, unknown>

/** A hook over a trail, and a warehouse that keeps rows as they are written. */
function hooked(parts = auditParts()) {
  const rows: Record<string, Row[]> = { enterprise_setting_changes: [], audit_findings: [] }
  const writeRows: WriteRows = async (table, records) => {
    for (const record of records) {
      for (const { cells } of table.read(record as Json).rows) {
        rows[table.name]?.push(Object.fromEntries(table.columns.map(({ name }, at) => [name, cells[at]])))
      }
    }
  }
  const hook = createAuditHook({ ...parts, watch: createWatch(watchRules) })
  const complete = (...numbers: number[]) =>
    hook.onComplete({ ...scan, seen: new Set(numbers), withheld: null, writeRows }, signal)
  return { ...parts, rows, hook, complete, changes: rows.enterprise_setting_changes!, findings: rows.audit_findings! }
}
function withSettings(number: number, settings: { [key: string]: Json }) {
  return seen({ ...revision(number), settings })
}

describe('the audit trail in a scan', () => {
  it('records, and hands the changes between revisions to the warehouse, whatever order the list has', async () => {
    const { hook, complete, changes, store } = hooked()
    await hook.afterFlush([withSettings(3, { enableAgentShield: false, days: 2 })], scan, signal)
    await hook.afterFlush(
      [withSettings(2, { enableAgentShield: true, days: 2 }), withSettings(1, { days: 1 })],
      scan,
      signal,
    )
    const { matches, pastMatches, entries, findings } = await complete(1, 2, 3)
    expect(entries).toBe(3)
    expect(findings).toEqual([])
    expect(changes).toMatchObject([
      { revision: 1, previous_revision: null, path: 'days', kind: 'added', before: null, after: '1', severity: null },
      { revision: 2, previous_revision: 1, path: 'days', kind: 'changed', before: '1', after: '2' },
      { revision: 2, path: 'enableAgentShield', kind: 'added', after: 'true', user_email: 'user2@x.example' },
      {
        revision: 3,
        path: 'enableAgentShield',
        before: 'true',
        after: 'false',
        severity: 'critical',
        rules: 'shield-off',
      },
    ])
    expect(matches).toEqual([])
    expect(pastMatches).toEqual([
      {
        revision: 3,
        sequence: 3,
        path: 'enableAgentShield',
        kind: 'changed',
        rule: 'shield-off',
        severity: 'critical',
        why: expect.any(String),
        user: 'user0@x.example',
      },
    ])
    expect(stored(store.objects, 'digests')).toHaveLength(1)
  })

  it('hands over again what a scan that died handed over, and nothing once a scan is complete', async () => {
    const { hook, complete, changes, findings } = hooked()
    await hook.afterFlush([withSettings(1, { a: 1 }), withSettings(2, { a: 2 })], scan, signal)
    await complete(1)
    expect([changes.splice(0).length, findings.splice(0).length]).toEqual([2, 1])
    const { acknowledge } = await complete(1)
    expect([changes.splice(0).length, findings.splice(0).length]).toEqual([2, 1])
    await acknowledge()
    expect(await complete(1)).toMatchObject({ entries: 0, findings: [], matches: [] })
    expect([changes.length, findings.length]).toEqual([0, 0])
  })

  it('keeps what the first look brought apart from what came since, also when it is told again', async () => {
    const { hook, complete } = hooked()
    const first = [withSettings(1, { enableAgentShield: true }), withSettings(2, { enableAgentShield: false })]
    await hook.afterFlush(first, scan, signal)
    // Nobody acknowledges it.
    await complete(1, 2)
    await hook.afterFlush([withSettings(3, {}), withSettings(4, { enableAgentShield: true })], scan, signal)
    await hook.afterFlush([withSettings(5, { enableAgentShield: false })], scan, signal)
    const { matches, pastMatches } = await complete(1, 2, 3, 4, 5)
    expect(pastMatches).toMatchObject([{ revision: 2, rule: 'shield-off' }])
    expect(matches).toMatchObject([{ revision: 5, rule: 'shield-off' }])
  })

  it('compares with what was recorded before, also when another revision comes between', async () => {
    const { hook, complete, changes } = hooked()
    await hook.afterFlush([withSettings(1, { a: 1 }), withSettings(4, { a: 4 })], scan, signal)
    await (await complete(1, 4)).acknowledge()
    changes.length = 0
    await hook.afterFlush([withSettings(2, { a: 2 })], scan, signal)
    await (await complete(1, 2, 4)).acknowledge()
    expect(changes.splice(0)).toMatchObject([
      { revision: 2, previous_revision: 1, before: '1', after: '2' },
      { revision: 4, previous_revision: 2, before: '2', after: '4' },
    ])
    await hook.afterFlush([withSettings(2, { a: 3 })], scan, signal)
    await complete(1, 2, 4)
    expect(changes).toMatchObject([
      { revision: 2, previous_revision: 2, entry_sequence: 4, previous_entry_sequence: 3, before: '2', after: '3' },
      { revision: 4, previous_revision: 2, previous_entry_sequence: 4, before: '3', after: '4' },
    ])
  })

  it('compares with the last entry that can be read, so that destroying one hides no change', async () => {
    const { hook, complete, changes, store } = hooked()
    const first = [1, 2, 3].map((number) => withSettings(number, { enableAgentShield: true, a: number }))
    await hook.afterFlush(first, scan, signal)
    await (await complete(1, 2, 3)).acknowledge()
    changes.length = 0
    for (const gone of [2, 3]) store.objects.delete(keyOf('entries', gone))
    await hook.afterFlush([withSettings(4, { enableAgentShield: false, a: 4 })], scan, signal)
    const { matches } = await complete(1, 2, 3, 4)
    expect(changes).toMatchObject([
      { revision: 4, previous_revision: 1, path: 'a', before: '1', after: '4' },
      { revision: 4, previous_revision: 1, rules: 'shield-off', before: 'true', after: 'false' },
    ])
    expect(matches).toMatchObject([{ revision: 4, rule: 'shield-off' }])
  })

  it('fills every column of its tables', async () => {
    const { hook, complete, changes, findings } = hooked()
    await hook.afterFlush(
      [withSettings(1, { enableAgentShield: true }), withSettings(2, { enableAgentShield: false })],
      scan,
      signal,
    )
    await hook.afterFlush([withSettings(2, { enableAgentShield: true })], scan, signal)
    await complete(2)
    const empty = (rows: Row[]) => Object.keys(rows[0]!).filter((name) => rows.every((row) => row[name] === null))
    expect(empty(changes)).toEqual([])
    // Only faults of stored objects have a place; the daily look finds those.
    expect(empty(findings)).toEqual(['place'])
  })

  it('gives rows keys that no other row has', async () => {
    const { hook, complete, changes } = hooked()
    await hook.afterFlush([withSettings(1, { l: ['a', 'b'] }), withSettings(2, { l: ['c', 'd'] })], scan, signal)
    await complete(1, 2)
    const keys = changes.map((row) => `${row.entry_sequence} ${row.previous_entry_sequence} ${row.position}`)
    expect(keys).toHaveLength(6)
    expect(new Set(keys).size).toBe(6)
  })

  it('shows no secret anywhere, and shows that it was rotated (AUD-05)', async () => {
    const parts = hooked()
    const { redact } = createRedactor('k')
    for (const [number, secret] of [
      [1, 's1-old'],
      [2, 's1-new'],
    ] as const) {
      const settings = { sso: { ClientSecret: secret }, keys: [{ value: `${secret}-2` }], url: `https://u:${secret}@h` }
      const record = redact(revision(number, settings), { secretPaths: [] }) as ReturnType<typeof revision>
      await parts.hook.afterFlush([seen(record)], scan, signal)
    }
    const news = await parts.complete(2)
    expect(parts.changes.filter(({ secret, revision }) => secret && revision === 2).map(({ path }) => path)).toEqual([
      'keys',
      'keys',
      'sso.ClientSecret',
      'url',
    ])
    const everything = JSON.stringify([
      news,
      parts.rows,
      [...parts.store.objects].map(([, bytes]) => Buffer.from(bytes).toString()),
    ])
    expect(everything).not.toContain('s1-')
    expect(JSON.stringify([news, parts.rows])).not.toContain('hmac')
  })
})
