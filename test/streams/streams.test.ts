import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { singlePage } from '../../lib/platform/paging.ts'
import { streamNamed, streams } from '../../lib/streams/index.ts'
import { defineStream } from '../../lib/streams/stream.ts'
import { defineTable } from '../../lib/streams/table.ts'

describe('streams', () => {
  it('have names and tables of their own', () => {
    const tables = streams.flatMap((stream) => stream.tables.map(({ name }) => name))
    expect(new Set(tables).size).toBe(tables.length)
    expect(streams.map(({ name }) => name)).toEqual([
      'readiness_reports',
      'sessions',
      'organization_users',
      'enterprise_control_revisions',
      'computers',
    ])
    for (const { name, tables } of streams) expect(tables[0].name).toBe(name)
  })

  it('are found by name, and an unknown name is answered with the known ones', () => {
    expect(streamNamed('sessions').primaryKey).toBe('sessionId')
    expect(() => streamNamed('session')).toThrow(/"session".*readiness_reports, sessions, organization_users/)
    expect(() => streamNamed('session')).toThrow(expect.objectContaining({ code: 'usage', action: 'stop' }))
  })

  it('can only be keyed by a field of their schema', () => {
    const schema = z.looseObject({ id: z.string().describe('Id.') })
    const table = defineTable({
      name: 'things',
      doc: 'Things.',
      key: ['id'],
      each: (thing: z.infer<typeof schema>) => [thing],
      columns: [{ name: 'id', type: 'string', doc: 'Id.', value: ({ id }) => id }],
    })
    const declared = defineStream({
      name: 'things',
      doc: 'Things.',
      endpoint: { base: 'v0', path: '/things' },
      paging: singlePage('things'),
      schema,
      // @ts-expect-error: "key" is no field, though the schema lets unknown keys pass
      primaryKey: 'key',
      secretPaths: [],
      tables: [table],
    })
    expect(declared.primaryKey).toBe('key')
  })

  it('keep the later change of a session and of a revision, and say nothing where a record has no such time', () => {
    expect(streamNamed('sessions').changedAt?.({ updatedAt: 5 })).toBe(5)
    expect(streamNamed('sessions').changedAt?.({})).toBeUndefined()
    const { changedAt } = streamNamed('enterprise_control_revisions')
    expect(changedAt?.({ updatedAt: '2025-03-05T17:45:12.345+01:00' })).toBe(Date.UTC(2025, 2, 5, 16, 45, 12, 345))
    expect(changedAt?.({ updatedAt: null })).toBeUndefined()
  })
})
