import { expect, it } from 'vitest'
import { createWatch } from '../../lib/audit/changes/watch.ts'
import { watchRules } from '../../lib/audit/changes/watch-rules.ts'
import { createAuditHook } from '../../lib/audit/hook.ts'
import { createAuditObserver } from '../../lib/audit/observer.ts'
import type { Json } from '../../lib/core/json.ts'
import { type Metrics, noMetrics } from '../../lib/core/metrics.ts'
import { enterpriseControlRevisions as stream } from '../../lib/streams/enterprise-control-revisions.ts'
import type { ObservedRecord } from '../../lib/sync/ports.ts'
import { listOf } from '../sync/support/source.ts'
import { createWorld } from '../sync/support/world.ts'
import { auditParts, findingsIn, revision, seen, stored } from './memory.ts'

/** The engine with an audit trail that observes the settings' history. */
function auditedWorld() {
  const parts = auditParts()
  const counted: Record<string, number> = {}
  const metrics: Metrics = {
    count: (name, value) => {
      counted[name] = (counted[name] ?? 0) + value
    },
  }
  const hook = createAuditHook({ ...parts, watch: createWatch(watchRules) })
  const world = createWorld({ observers: { [stream.name]: createAuditObserver(hook, metrics) } })
  const sync = (records: Json[]) => world.sync(stream, listOf(records))
  const findings = () => findingsIn(parts.store.objects)
  return { ...parts, sync, findings, counted }
}
function history(...numbers: number[]): Json[] {
  return numbers.map((number) => revision(number))
}
function upTo(last: number): Json[] {
  return history(...Array.from({ length: last }, (_, at) => at + 1))
}

it('says of lists that came back empty, and then as before, that one was suspect, and nothing of its revisions (AUD-09)', async () => {
  const { sync, findings } = auditedWorld()
  await sync(upTo(30))
  const { status, reason, notices } = await sync([])
  expect(status).toBe('suspect')
  expect(notices).toEqual([
    { severity: 'warning', code: 'suspect_scan', about: 'audit trail', message: expect.stringContaining(`${reason}`) },
  ])
  expect(await sync(upTo(30))).toMatchObject({ status: 'complete', notices: [] })
  expect(findings().map(({ kind }) => kind)).toEqual(['suspect_scan'])
})

it('says what vanished from a list that may delete', async () => {
  const { sync, findings } = auditedWorld()
  await sync(upTo(30))
  expect(await sync(upTo(29))).toMatchObject({ status: 'complete', notices: [{ code: 'revision_vanished' }] })
  expect(findings()).toMatchObject([{ kind: 'revision_vanished', revision: 30 }])
})

it('tells of the time before the first sync in remarks that alarm nobody, and of what came later each for itself', async () => {
  const { sync, findings, counted } = auditedWorld()
  const shield = (number: number, enableAgentShield: boolean) => ({
    ...revision(number),
    settings: { enableAgentShield },
  })
  const first = [shield(1, true), shield(2, false), shield(5, true), shield(9, false)]
  const about = 'the time before the first sync'
  expect((await sync(first)).notices).toEqual([
    { severity: 'info', code: 'history_gap', about, message: expect.stringContaining('audit report') },
    { severity: 'info', code: 'past_changes', about, message: expect.stringContaining('audit report') },
  ])
  expect(findings().map(({ kind }) => kind)).toEqual(['history_gap', 'history_gap'])
  expect([counted.AuditFindings, counted.AuditWatchMatches]).toEqual([0, 0])
  const { notices } = await sync([...first, shield(10, true), shield(12, false)])
  expect(notices?.map(({ severity, code }) => [severity, code])).toEqual([
    ['critical', 'shield-off'],
    ['warning', 'revision_gap'],
  ])
  expect([counted.AuditFindings, counted.AuditWatchMatches]).toEqual([1, 1])
})

it('takes what it was shown for listed, though the engine has no record of it', async () => {
  const { store, ...parts } = auditParts()
  const observer = createAuditObserver(createAuditHook({ ...parts, watch: createWatch([]) }), noMetrics)
  const { signal } = new AbortController()
  const look = async (scanId: string, numbers: number[]) => {
    const records = numbers.map((number) => seen({ revision: number, settings: 'odd' })) as ObservedRecord[]
    await observer.flushed(records, { runId: 'r', scanId }, signal)
    const list = { runId: 'r', scanId, seen: () => [], withheld: null, writeRows: async () => {} }
    await observer.completed(list, signal)
  }
  await look('scan-1', [1, 2])
  await look('scan-2', [1, 2])
  expect([stored(store.objects, 'entries').length, findingsIn(store.objects)]).toEqual([2, []])
  await look('scan-3', [1])
  expect(findingsIn(store.objects)).toMatchObject([{ kind: 'revision_vanished', revision: 2 }])
})
