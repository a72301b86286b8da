import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { CreditLimitEntry, CreditLimitsResult } from '../../lib/platform/schemas/credit-limits.ts'
import { MessageReceipt, MessageSubmission } from '../../lib/platform/schemas/message.ts'
import { SessionSettings, SessionSettingsInput } from '../../lib/platform/schemas/session.ts'

function accepts(schema: z.ZodType, value: unknown) {
  return schema.safeParse(value).success
}
function refusal(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0]
  return issue && `${issue.path.join('.')}: ${issue.message}`
}

describe('the request schemas', () => {
  it('take every session setting but the two token usages', () => {
    expect(accepts(SessionSettingsInput, { model: 'm', tags: [{ name: 'a', metadata: {} }], archivedAt: 'x' })).toBe(
      true,
    )
    expect(refusal(SessionSettingsInput, { tokenUsage: { inputTokens: 1 } })).toBe('tokenUsage: is in responses only')
    expect(refusal(SessionSettingsInput, { inclusiveTokenUsage: { inputTokens: 1 } })).toBe(
      'inclusiveTokenUsage: is in responses only',
    )
    expect(Object.keys(SessionSettingsInput.shape).sort()).toEqual(Object.keys(SessionSettings.shape).sort())
  })

  it('take images, PDFs and text files in base64, and name what they refuse', () => {
    const image = { type: 'base64', data: 'aGk=', mediaType: 'image/jpeg' }
    const file = {
      type: 'base64',
      data: 'aGk=',
      mediaType: 'application/pdf',
      name: 'a.pdf',
      path: '/a.pdf',
      parsedData: 'hi',
    }
    expect(
      accepts(MessageSubmission, {
        text: 'Look.',
        images: [image],
        files: [file, { ...file, mediaType: 'text/plain' }],
      }),
    ).toBe(true)
    expect(refusal(MessageSubmission, { text: 'x', images: [{ ...image, mediaType: 'application/pdf' }] })).toMatch(
      /^images.0.mediaType: /,
    )
    expect(refusal(MessageSubmission, { text: 'x', files: [{ ...file, mediaType: 'video/mp4' }] })).toMatch(
      /^files.0.mediaType: /,
    )
    expect(refusal(MessageSubmission, { text: 'x', images: [{ ...image, data: 'not base64!' }] })).toMatch(
      /^images.0.data: /,
    )
    expect(refusal(MessageSubmission, { text: 'x', images: [{ ...image, type: 'url' }] })).toMatch(/^images.0.type: /)
    expect(refusal(MessageSubmission, { images: [image] })).toMatch(/^text: /)
  })

  it('take a limit that is an integer, 0 too, and nothing that only looks like one', () => {
    expect(accepts(CreditLimitEntry, { email: 'ana@acme.example', limit: 0 })).toBe(true)
    for (const limit of [null, '', '5', 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(accepts(CreditLimitEntry, { email: 'ana@acme.example', limit }), String(limit)).toBe(false)
    }
    expect(accepts(CreditLimitEntry, { email: '', limit: 1 })).toBe(false)
  })

  it('take the outcome of a batch of limits with one of its lists at least, whatever its rows are', () => {
    const updated = [{ email: 'ana@acme.example', limit: 5 }]
    expect(
      accepts(CreditLimitsResult, { updated, errors: [{ email: 'bo@acme.example', error: 'no such user' }] }),
    ).toBe(true)
    expect(accepts(CreditLimitsResult, { updated, errors: null })).toBe(true)
    expect(accepts(CreditLimitsResult, { errors: [null, 5] })).toBe(true)
    for (const other of [{}, { updated: null, errors: null }, { updated: 3, errors: {} }, [], null]) {
      expect(accepts(CreditLimitsResult, other), JSON.stringify(other)).toBe(false)
    }
    expect(accepts(MessageReceipt, { messageId: 'm', status: 'pending' })).toBe(true)
    expect(accepts(MessageReceipt, { messageId: 'm' })).toBe(false)
  })
})
