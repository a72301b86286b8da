import { describe, expect, it } from 'vitest'
import { PrivacyVariables, privacyOf } from '../../lib/compose/privacy.ts'
import { readVariables, type Variables } from '../../lib/core/env.ts'

function read(variables: Variables) {
  return privacyOf(readVariables(PrivacyVariables, variables))
}

describe('the choices of an installation', () => {
  it('hide secrets and files, and nothing else, where none is made', () => {
    expect(read({})).toEqual({ contents: { content: 'redacted', roles: {}, attachments: 'replaced' }, fields: {} })
  })

  it('come from the environment', () => {
    const fields = { organization_users: { email: 'hash', firstName: 'drop' } }
    expect(
      read({
        MESSAGES_CONTENT: 'full',
        MESSAGES_CONTENT_BY_ROLE: '{"user":"hashed"}',
        MESSAGES_ATTACHMENTS: 'kept',
        PRIVACY_FIELDS: JSON.stringify(fields),
      }),
    ).toEqual({ contents: { content: 'full', roles: { user: 'hashed' }, attachments: 'kept' }, fields })
  })

  it.each([
    ['MESSAGES_CONTENT', 'plain', 'must be one of redacted, hashed, full'],
    ['MESSAGES_CONTENT_BY_ROLE', '{"human":"full"}', 'MESSAGES_CONTENT_BY_ROLE'],
    ['MESSAGES_CONTENT_BY_ROLE', '{"user":"plain"}', 'MESSAGES_CONTENT_BY_ROLE.user must be one of'],
    ['MESSAGES_CONTENT_BY_ROLE', 'user', 'is no JSON'],
    ['MESSAGES_ATTACHMENTS', 'hidden', 'must be one of replaced, kept'],
    ['PRIVACY_FIELDS', '{"users":{}}', 'PRIVACY_FIELDS.users is no stream'],
    ['PRIVACY_FIELDS', '{"sessions":{"title":"hide"}}', 'PRIVACY_FIELDS.sessions.title must be one of'],
    ['PRIVACY_FIELDS', '{"sessions":{"name":"hash"}}', 'PRIVACY_FIELDS.sessions.name is no field of the stream'],
    ['PRIVACY_FIELDS', '[]', 'PRIVACY_FIELDS'],
  ])('that are none are named: %s=%s', (variable, text, message) => {
    expect(() => read({ [variable]: text })).toThrow(message)
  })
})
