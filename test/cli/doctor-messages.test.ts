import { describe, expect, it } from 'vitest'
import { estimateText, firstRead } from '../../lib/cli/doctor-messages.ts'

describe('a first read of all messages', () => {
  it('takes a request per page, and each message two writes', () => {
    const { seconds, usd } = firstRead({ sessions: 1_000_000, messages: 20_000_000, requests: 1_000_000 })
    expect(seconds).toBe(100_000)
    expect(usd).toBeCloseTo(25 + 2.3, 1)
  })

  it('is told in words', () => {
    expect(estimateText({ sessions: 1_000_000, messages: 20_000_000, requests: 1_000_000 })).toBe(
      'a first read of the 20,000,000 messages of 1,000,000 sessions is 1,000,000 requests: 28 h at 10 a second, and about 27.30 USD on AWS',
    )
    expect(estimateText({ sessions: 9, messages: 9, requests: 9_000 }, 50)).toContain(
      '9,000 requests: 3 min at 50 a second',
    )
    expect(estimateText({ sessions: 2, messages: 3, requests: 2 })).toContain('less than 0.01 USD')
  })
})
