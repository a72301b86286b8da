import { PutEventsCommand } from '@aws-sdk/client-eventbridge'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Manifest, RunRecord } from '../../lib/publish/manifest.ts'
import { createAnnouncer, createEventBridge } from '../../lib/stores/announcer.ts'

// No emulator knows EventBridge.
const client = createEventBridge({ region: 'us-east-1' })
const eventBridge = mockClient(client)
const announcer = createAnnouncer({ eventBridge: client, bus: 'ops', bucket: 'lake', reporting: ['nightly'] })

const record: RunRecord = {
  runId: '20261128T020000Z-nightly',
  scheduledAt: Date.UTC(2026, 10, 28, 2),
  finishedAt: Date.UTC(2026, 10, 28, 2, 5),
  status: 'partial',
  streams: [{ stream: 'computers', status: 'failed', reason: 'gone', counts: null }],
}
function manifest(scans: number): Manifest {
  return {
    version: 1,
    runId: record.runId,
    publishedAt: '',
    scans: Array.from({ length: scans }),
  } as unknown as Manifest
}

function entry() {
  const [call] = eventBridge.commandCalls(PutEventsCommand)
  return call?.args[0].input.Entries?.[0]
}

beforeEach(() => {
  eventBridge.reset()
  eventBridge.on(PutEventsCommand).resolves({ FailedEntryCount: 0 })
})

describe('the announcement of a run', () => {
  it('tells how each stream ended and where the manifest lies', async () => {
    await announcer.announce(record, manifest(1))
    const { Detail, ...rest } = entry()!
    expect(rest).toMatchObject({
      EventBusName: 'ops',
      Source: 'agent-platform-sync',
      DetailType: 'sync.run.completed',
    })
    expect(JSON.parse(Detail ?? '')).toEqual({
      ...record,
      scheduledAt: '2026-11-28T02:00:00.000Z',
      finishedAt: '2026-11-28T02:05:00.000Z',
      bucket: 'lake',
      manifestKey: 'manifests/run=20261128T020000Z-nightly.json',
      reportKey: 'reports/2026-11-28.html',
    })
  })

  it('points to no page where the schedule of the run has none, and for a run by hand', async () => {
    for (const runId of ['20261128T021500Z-controls', '20261128T021500123Z']) {
      eventBridge.resetHistory()
      await announcer.announce({ ...record, runId }, manifest(0))
      expect(JSON.parse(entry()?.Detail ?? '')).toMatchObject({ runId, reportKey: null })
    }
  })

  it('points to no manifest when no scan ended', async () => {
    await announcer.announce(record, manifest(0))
    expect(JSON.parse(entry()?.Detail ?? '')).toMatchObject({ manifestKey: null })
  })

  it('did not happen when the bus answers 200 and took nothing', async () => {
    eventBridge.on(PutEventsCommand).resolves({ FailedEntryCount: 1, Entries: [{ ErrorCode: 'ThrottlingException' }] })
    await expect(announcer.announce(record, manifest(1))).rejects.toThrow(
      'did not take the event (ThrottlingException)',
    )
  })
})
