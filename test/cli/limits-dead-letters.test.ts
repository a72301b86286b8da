import { describe, expect, it } from 'vitest'
import { failedIntents, sayFailedIntents } from '../../lib/cli/limits-failures.ts'
import type { Output } from '../../lib/cli/output.ts'
import { createLedger } from '../../lib/stores/ledger.ts'
import { send, useEmulatedLimits } from '../limits/emulated.ts'
import { at, intent } from '../limits/fixture.ts'
import { cliIn } from './cli.ts'

const limits = useEmulatedLimits()

function failure(messageId: string, receiveCount: number) {
  return { messageId, receiveCount, at: at(0), code: 'bad_request', reason: `why ${messageId} failed` }
}

describe('messages of an applied plan that failed', () => {
  it('are named with their reasons, dead letters first, and those that did not fail are not', async () => {
    const { parts, reader } = limits()
    await createLedger(parts).noteFailures([failure('m1', 2), failure('m2', 5)])
    const published = ['m1', 'm2', 'm3'].map((messageId) => ({ requestId: `plan.${messageId}`, messageId }))
    const failed = await failedIntents(published, reader)
    const lines: string[] = []
    const io = { say: (line = '') => void lines.push(line) } as Output
    sayFailedIntents(failed, { io, most: 20 })
    expect(lines).toEqual([
      'Dead letter: plan.m2 (message m2): why m2 failed',
      'Failed, and comes again: plan.m1 (message m1): why m1 failed',
    ])
    sayFailedIntents(failed, { io, most: 1 })
    expect(lines.at(-1)).toBe('... and 1 more (--json shows all)')
  })
})

describe('limits redrive', () => {
  it('names each dead letter and why it failed, as far as the ledger knows', async () => {
    const { sqs, deadLettersUrl = '', parts, variables } = limits()
    const ids = await Promise.all(
      [JSON.stringify(intent({ 'a@x.io': 1 }, { requestId: 'hr-7' })), 'no json'].map((body) =>
        send(sqs, deadLettersUrl, body),
      ),
    )
    await createLedger(parts).noteFailures([failure(ids[0] ?? '', 5)])
    const { code, stdout } = await cliIn(process.cwd(), variables).run(['limits', 'redrive'])
    expect(code).toBe(0)
    expect(stdout.trim().split('\n').sort()).toEqual(
      [
        `hr-7 (message ${ids[0]}) is back on the queue; it failed before: why ${ids[0]} failed`,
        `A text that is no request (message ${ids[1]}) is back on the queue; why it failed is not in the ledger`,
        '2 messages moved.',
      ].sort(),
    )
  })
})
