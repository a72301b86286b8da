import { beforeAll, describe, expect, it } from 'vitest'
import type { Log } from '../../../lib/core/log.ts'
import { silentLog } from '../../../lib/core/log.ts'
import { reportWaiting, waitingMs } from '../../../lib/limits/intake/waiting-files.ts'
import { createInbox, createInboxListing } from '../../../lib/stores/inbox.ts'
import { useEmulatedLimits } from '../emulated.ts'

const limits = useEmulatedLimits()
let place: Parameters<typeof createInbox>[0]

beforeAll(async () => {
  place = { s3: limits().emulated.s3, bucket: limits().variables.INBOX_BUCKET ?? '' }
  const inbox = createInbox(place)
  const settled = ['done/a.csv', 'failed/b.csv', 'policy/p.yaml', 'policy-plans/x.json', 'policy-approvals/x.json']
  for (const key of [...settled, 'limits.csv', 'hr/done/may.csv', 'policy.csv']) {
    await inbox.put(key, Buffer.from('email,limit'), { contentType: 'text/csv' })
  }
})

/** What is measured when somebody looks so long after the newest file was dropped. */
async function lookAfter(ms: number) {
  const listing = createInboxListing(place)
  const dropped = (await listing.waiting()).map(({ droppedAt }) => droppedAt)
  const measured: [string, number][] = []
  const warnings: unknown[] = []
  const log: Log = { ...silentLog, warn: (_, fields) => warnings.push(fields) }
  const clock = { now: () => Math.max(...dropped) + ms, sleep: async () => {} }
  await reportWaiting({ listing, clock, log, metrics: { count: (name, value) => measured.push([name, value]) } })
  return { measured, warnings }
}

describe('a look at the inbox', () => {
  it('finds the files that are to be imported, in folders too, and nothing that was dealt with or is of the policy', async () => {
    const keys = (await createInboxListing(place).waiting()).map(({ key }) => key)
    expect(keys.sort()).toEqual(['hr/done/may.csv', 'limits.csv', 'policy.csv'])
  })

  it('measures none before an import can have failed for good, so that silence means that nobody looked', async () => {
    expect(await lookAfter(0)).toEqual({ measured: [['InboxFilesWaiting', 0]], warnings: [] })
  })

  it('measures those that nobody takes up, and names the oldest in the log', async () => {
    const { measured, warnings } = await lookAfter(waitingMs + 1)
    expect(measured).toEqual([['InboxFilesWaiting', 3]])
    expect(warnings).toEqual([{ files: 3, oldest: expect.stringMatching(/csv$/), since: expect.any(String) }])
  })
})
