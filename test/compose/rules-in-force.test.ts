import { describe, expect, it } from 'vitest'
import { RulesVariables, rulesInForce } from '../../lib/compose/rules-in-force.ts'

function rulesOf(variables: Record<string, string>) {
  return rulesInForce(RulesVariables.parse(variables))
}

describe('the rules in force', () => {
  it('are those fields of a stream that are not kept, and what is kept of messages', () => {
    const fields = { organization_users: { email: 'hash', firstName: 'keep' }, computers: { hostname: 'keep' } }
    const variables = {
      PRIVACY_FIELDS: JSON.stringify(fields),
      MESSAGES_CONTENT: 'hashed',
      MESSAGES_CONTENT_BY_ROLE: '{"user":"full"}',
      MESSAGES_ATTACHMENTS: 'replaced',
    }
    expect(rulesOf(variables)).toEqual({
      organization_users: { email: 'hash' },
      session_messages: { content: 'hashed', 'content of user': 'full', attachments: 'replaced' },
    })
  })

  it('are none where the configuration says nothing', () => {
    expect(rulesOf({})).toEqual({})
  })
})
