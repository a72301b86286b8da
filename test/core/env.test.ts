import { describe, expect, it } from 'vitest'
import { PlatformVariables, RedactionVariables, readVariables, StoreVariables } from '../../lib/core/env.ts'

const All = StoreVariables.extend({ ...PlatformVariables.shape, ...RedactionVariables.shape })
const complete = {
  PLATFORM_APP_URL: 'https://app.example.com',
  PLATFORM_BASE_URL: 'https://api.example.com',
  PLATFORM_API_KEY: 'key_live_ABC123',
  REDACTION_KEY: 'r'.repeat(32),
  AWS_REGION: 'eu-central-1',
  STATE_TABLE: 'state',
  RECORDS_TABLE: 'records',
  LAKE_BUCKET: 'lake',
}
function messageFor(variables: Record<string, string | undefined>): string {
  try {
    readVariables(All, variables)
  } catch (error) {
    expect(error).toMatchObject({ code: 'configuration', action: 'stop' })
    return (error as Error).message
  }
  return ''
}

describe('the environment', () => {
  it('is taken when it is complete', () => {
    expect(readVariables(All, { ...complete, UNRELATED: 'x' })).toEqual(complete)
  })

  it.each(['0', '5000', 'many'])('refuses %s as a rate of requests, and says what one is', (rate) => {
    expect(readVariables(All, { ...complete, PLATFORM_REQUESTS_PER_SECOND: '2.5' })).toMatchObject({
      PLATFORM_REQUESTS_PER_SECOND: 2.5,
    })
    expect(messageFor({ ...complete, PLATFORM_REQUESTS_PER_SECOND: rate })).toContain(
      'PLATFORM_REQUESTS_PER_SECOND must be a number of requests a second, from 0.1 to 1000',
    )
  })

  it('names every variable that is missing, in one message, and how to set it', () => {
    const lines = messageFor({}).split('\n').slice(1)
    for (const name of [
      'PLATFORM_APP_URL',
      'PLATFORM_BASE_URL',
      'AWS_REGION',
      'STATE_TABLE',
      'RECORDS_TABLE',
      'LAKE_BUCKET',
    ]) {
      expect(
        lines.filter((line) => line.includes(`${name} is missing; set it to`)),
        name,
      ).toHaveLength(1)
    }
    expect(lines.join()).toContain('PLATFORM_API_KEY or PLATFORM_SECRET_ID is missing')
    expect(lines.join()).toContain('REDACTION_KEY or REDACTION_SECRET_ID is missing')
    expect(lines).toHaveLength(8)
  })

  it.each(Object.keys(complete))('counts an empty %s as missing', (name) => {
    expect(messageFor({ ...complete, [name]: '' })).toContain(name)
    expect(messageFor({ ...complete, [name]: '' }).split('\n')).toHaveLength(2)
  })

  it('is content with the secret in place of the value', () => {
    const { PLATFORM_API_KEY: _key, REDACTION_KEY: _redaction, ...rest } = complete
    expect(messageFor({ ...rest, PLATFORM_SECRET_ID: 'platform', REDACTION_SECRET_ID: 'redaction' })).toBe('')
  })

  it.each(['app.example.com', 'ftp://app.example.com', 'not an address'])('refuses the address %s', (address) => {
    expect(messageFor({ ...complete, PLATFORM_APP_URL: address })).toContain(
      'PLATFORM_APP_URL is not an http(s) address',
    )
  })

  it('never repeats the value of a credential', () => {
    expect(messageFor({ PLATFORM_API_KEY: 'key_live_ABC123', REDACTION_KEY: 'hush' })).not.toMatch(/key_live|hush/)
  })

  it('refuses a key for fingerprints that is too short, and an endpoint that is no address', () => {
    const message = messageFor({ ...complete, REDACTION_KEY: 'x', AWS_ENDPOINT_URL: 'foo' })
    expect(message).toContain('REDACTION_KEY is too short; set it to a random text of 32 characters or more')
    expect(message).toMatch(/AWS_ENDPOINT_URL is not an http\(s\) address; set it to .* or leave it out/)
  })
})
