import { describe, expect, it } from 'vitest'
import { keysOf } from '../../lib/core/field-path.ts'
import { whyNotChosen } from '../../lib/streams/field-rules.ts'
import { streamNamed, streams } from '../../lib/streams/index.ts'

function why(stream: string, path: string, choice: 'keep' | 'hash' | 'drop') {
  return whyNotChosen(streamNamed(stream), { path, choice })
}

describe('a choice for a field', () => {
  it.each([
    ['organization_users', 'email', 'hash'],
    ['organization_users', 'firstName', 'drop'],
    ['organization_users', 'metadata', 'hash'],
    ['organization_users', 'metadata.anything.below', 'drop'],
    ['organization_users', 'id', 'keep'],
    ['session_messages', 'vendorReasoningSummary', 'drop'],
    ['session_messages', 'content[].input', 'drop'],
    ['sessions', 'sessionSettings.tags[].name', 'hash'],
    ['sessions', 'sessionSettings.tags[]', 'drop'],
    ['readiness_reports', 'report.*.rationale', 'hash'],
    ['enterprise_control_revisions', 'user.email', 'drop'],
  ] as const)('can be made: %s %s %s', (stream, path, choice) => {
    expect(why(stream, path, choice)).toBeUndefined()
  })

  it.each([
    ['organization_users', 'mail', 'hash', 'is no field'],
    ['organization_users', '', 'hash', 'is no field'],
    ['organization_users', 'constructor', 'keep', 'is no field'],
    ['sessions', 'sessionSettings.toString.x', 'hash', 'is no field'],
    ['sessions', 'sessionSettings.tags.name', 'hash', 'is no field'],
    ['organization_users', 'id', 'hash', 'identifies the record'],
    ['session_messages', 'sessionId', 'hash', 'identifies the record'],
    ['session_messages', 'id', 'drop', 'identifies the record'],
    ['session_messages', 'content', 'drop', 'must be there'],
    ['sessions', 'createdAt', 'hash', 'holds no text'],
    ['sessions', 'status', 'drop', 'must be there'],
  ] as const)('is refused: %s %s %s', (...[stream, path, choice, reason]) => {
    expect(why(stream, path, choice)).toContain(reason)
  })

  it('can be made for each field that a stream calls personal', () => {
    const refused = streams.flatMap(({ name, personal = [] }) => personal.filter((path) => why(name, path, 'hash')))
    expect(refused).toEqual([])
    expect(streams.some(({ personal = [] }) => personal.length > 0)).toBe(true)
  })
})

describe('a path', () => {
  it('names members, elements of lists and members of maps', () => {
    expect(keysOf('a.b[].c')).toEqual(['a', 'b', '[]', 'c'])
    expect(keysOf('a[][].*')).toEqual(['a', '[]', '[]', '*'])
  })
})
