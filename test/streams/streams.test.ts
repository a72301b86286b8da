import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { creditLimitOutcomes } from '../../lib/streams/credit-limit-outcomes.ts'
import { platformStreams, streamNamed, streams } from '../../lib/streams/index.ts'
import { recordTable } from '../../lib/streams/schema-tables.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { defineStream, isPlatformStream, readingOf, tablesOf } from '../../lib/streams/stream.ts'

describe('streams', () => {
  it('have names and tables of their own', () => {
    const tables = streams.flatMap((stream) => tablesOf(stream).map(({ name }) => name))
    expect(new Set(tables).size).toBe(tables.length)
    expect(new Set(streams.map(({ name }) => name)).size).toBe(streams.length)
    for (const { name, tables } of streams) expect(tables[0].name).toBe(name)
  })

  it('say how they are read where they are lists of the platform, and are added to where they are not', () => {
    expect(streams.filter(isPlatformStream)).toEqual([...platformStreams, sessionMessages])
    for (const stream of platformStreams) {
      expect(stream.mode).toBe('full_refresh')
      expect(readingOf(stream)).toBe(stream.reading)
    }
    expect(creditLimitOutcomes.mode).toBe('append')
    expect(streams).toContain(creditLimitOutcomes)
    expect(() => readingOf(creditLimitOutcomes)).toThrow(/credit_limit_outcomes is no list of the platform/)
  })

  it('are found by name, and an unknown name is answered with the known ones', () => {
    expect(streamNamed('sessions').primaryKey).toBe('sessionId')
    const names = streams.map(({ name }) => name).join(', ')
    expect(() => streamNamed('session')).toThrow(`There is no stream "session". The streams are: ${names}.`)
    expect(() => streamNamed('session')).toThrow(expect.objectContaining({ code: 'usage', action: 'stop' }))
  })

  it('can only be keyed by a field of their schema', () => {
    const schema = z.looseObject({ id: z.string().describe('Id.') })
    const declared = defineStream({
      name: 'things',
      doc: 'Things.',
      mode: 'append',
      schema,
      // @ts-expect-error: "key" is no field, though the schema lets unknown keys pass
      primaryKey: 'key',
      secretPaths: [],
      tables: [recordTable(schema, { name: 'things', doc: 'Things.', key: ['id'] })],
    })
    expect(declared.primaryKey).toBe('key')
  })

  it('keep the later change of a session and of a revision, and say nothing where a record has no such time', () => {
    expect(streamNamed('sessions').changedAt?.({ updatedAt: 1748411762359.5 })).toBe(1748411762359)
    for (const updatedAt of [undefined, 5, '1748411762359']) {
      expect(streamNamed('sessions').changedAt?.({ updatedAt })).toBeUndefined()
    }
    const { changedAt } = streamNamed('enterprise_control_revisions')
    expect(changedAt?.({ updatedAt: '2025-03-05T17:45:12.345+01:00' })).toBe(Date.UTC(2025, 2, 5, 16, 45, 12, 345))
    expect(changedAt?.({ updatedAt: null })).toBeUndefined()
  })
})
