import { describe, expect, it } from 'vitest'
import { streamNamed } from '../../lib/streams/index.ts'
import { keyParts, keyText, parentPart } from '../../lib/streams/keys.ts'
import { sessionMessages } from '../../lib/streams/session-messages.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { shardLabel, shardsOf, withoutShard } from '../../lib/streams/shards.ts'

describe('keys of several values', () => {
  it.each([[['a', 'b']], [['a/b', '%2F']], [['%', '/']], [['a%2Fb', 'c']], [['é', '🙂/']]])(
    'are one text that gives them back: %j',
    (values) => {
      const text = keyText(values)
      expect(keyParts(text, values.length)).toEqual(values)
      expect(keyParts(`${parentPart(text)}/x`, 2)[0]).toBe(values[0])
    },
  )

  it('are told apart, and a key of one value is that value', () => {
    expect(keyText(['a/b', 'c'])).not.toBe(keyText(['a', 'b/c']))
    expect([keyText(['a/%']), keyParts('a/%', 1)]).toEqual(['a/%', ['a/%']])
  })
})

describe('shards', () => {
  const shards = shardsOf(sessionMessages)

  it('are streams with the tables of the one that they divide, and names of their own', () => {
    expect(shards).toHaveLength(64)
    expect(new Set(shards.map(({ name }) => name)).size).toBe(64)
    const [first] = shards
    expect(first).toMatchObject({ name: 'session_messages/00', tables: sessionMessages.tables })
    expect([shardLabel('session_messages/07'), withoutShard('session_messages/07')]).toEqual(['07', 'session_messages'])
    expect([shardLabel('sessions'), withoutShard('sessions')]).toEqual(['', 'sessions'])
    expect(streamNamed('session_messages/63')).toMatchObject({ name: 'session_messages/63' })
  })

  it('share out the parents evenly, each to one, and the same one for ever', () => {
    const ids = Array.from({ length: 6_400 }, (_, n) => `0190-${n}-session`)
    const sizes = shards.map(({ parent }) => ids.filter((id) => parent?.owns?.(id)).length)
    expect(sizes.reduce((sum, size) => sum + size)).toBe(ids.length)
    expect(Math.max(...sizes)).toBeLessThan(150)
    expect(shards.findIndex(({ parent }) => parent?.owns?.('0190-7-session'))).toBe(20)
  })

  it('are none where there is one list', () => {
    expect(shardsOf(sessions)).toEqual([sessions])
  })
})
