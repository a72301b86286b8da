import type { Context } from 'aws-lambda'
import { beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { useEmulatedLimits } from '../limits/emulated.ts'

const limits = useEmulatedLimits()
const context = { functionName: 'policy', awsRequestId: 'r-1', getRemainingTimeInMillis: () => 60_000 } as Context
const quiet = {
  POWERTOOLS_LOG_LEVEL: 'SILENT',
  POWERTOOLS_METRICS_DISABLED: 'true',
  POWERTOOLS_METRICS_NAMESPACE: 'Test',
}
let keep: (event: unknown, context: Context) => Promise<{ status: string }>

function stubEnvironment() {
  for (const [name, value] of Object.entries({ ...limits().variables, ...quiet })) vi.stubEnv(name, value)
}
beforeAll(async () => {
  stubEnvironment()
  keep = (await import('../../functions/apply-credit-policy.ts')).handler
})
beforeEach(stubEnvironment)

function arrived(key: string) {
  return { time: '2026-05-06T10:00:00Z', detail: { object: { key }, requester: '123456789012' } }
}

it('does nothing where there is no policy, and looks at one when it comes and after a run', async () => {
  expect(await keep({ schedule: 'nightly', scheduledAt: '2026-05-06T02:00:00Z' }, context)).toEqual({
    status: 'no_policy',
  })
  const inbox = createObjectStore({ s3: limits().emulated.s3, bucket: limits().variables.INBOX_BUCKET ?? '' })
  await inbox.put('policy/policy.yaml', Buffer.from('default: x'))
  expect(await keep(arrived('policy/policy.yaml'), context)).toEqual({ status: 'invalid' })
  await inbox.put('policy/policy.yaml', Buffer.from('default: 500'))
  expect(await keep(arrived('policy/policy.yaml'), context)).toEqual({ status: 'unusable' })
})

it('does nothing for an approval of a plan that does not wait', async () => {
  expect(await keep(arrived('policy-approvals/0123456789abcdef.json'), context)).toEqual({ status: 'not_waiting' })
})

it.each([[{}], [null], [{ detail: { object: {} } }]])('refuses the event %j in one sentence', async (event) => {
  await expect(keep(event, context)).rejects.toThrow(/^The event is not what .* sends \([^.]*$/)
})
