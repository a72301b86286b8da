import { expect, it } from 'vitest'
import { createAudit } from '../../../lib/audit/audit.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { writeDailyDigest } from '../../../lib/audit/verify/daily-digest.ts'
import { noMetrics } from '../../../lib/core/metrics.ts'
import { auditParts, findingsIn, revisions, scan, signal, stored, testClock, testSigner } from '../memory.ts'

const dayMs = 24 * 3_600_000

async function recorded(entries = 4) {
  const clock = testClock()
  const parts = auditParts({ clock })
  await parts.recorder.record(revisions(1, entries), scan, signal)
  const { store, work, head } = parts
  const rest = { signer: testSigner, watch: createWatch([]), metrics: noMetrics, random: Math.random, daily: true }
  const audit = createAudit({ store, work, head, clock, ...rest })
  const { objects } = store
  const day = () => writeDailyDigest(audit, { clock, metrics: noMetrics, signal })
  return { objects, clock, day }
}

it('signs a digest each day, also when nothing changed', async () => {
  const { objects, clock, day } = await recorded()
  expect(await day()).toEqual({ checked: '4 entries, 0 findings, 0 digests', faults: 0, newFindings: 0 })
  clock.at += dayMs
  expect(await day()).toMatchObject({ faults: 0, newFindings: 0 })
  const [first, second] = stored(objects, 'digests')
  expect(second?.head).toEqual(first?.head)
  expect(second?.nextDueAt).toBe('2026-01-07T02:00:00.000Z')
})

it('takes a trail that has not begun for no fault, and signs that it is empty', async () => {
  const { objects, clock, day } = await recorded(0)
  expect(await day()).toMatchObject({ faults: 0, newFindings: 0 })
  clock.at += dayMs
  expect(await day()).toEqual({ checked: '0 entries, 0 findings, 1 digests', faults: 0, newFindings: 0 })
  expect(stored(objects, 'digests').length).toBe(2)
})

it('says once what is wrong with the trail, with its place, and signs that it was said', async () => {
  const { objects, clock, day } = await recorded()
  await day()
  objects.delete('audit/entries/0000000002.json')
  clock.at += dayMs
  expect(await day()).toMatchObject({ faults: 1, newFindings: 1 })
  expect(findingsIn(objects)).toMatchObject([
    { kind: 'trail_damaged', severity: 'critical', place: 'audit/entries/0000000002.json' },
  ])
  clock.at += dayMs
  expect(await day()).toMatchObject({ faults: 1, newFindings: 0 })
  expect(stored(objects, 'digests').at(-1)?.head).toMatchObject({ findings: { sequence: 1 } })
})

it('finds a day without a digest, once', async () => {
  const { objects, clock, day } = await recorded()
  await day()
  clock.at += 2 * dayMs
  await day()
  expect(findingsIn(objects)).toMatchObject([{ kind: 'digest_missing', severity: 'critical' }])
  clock.at += dayMs
  // That there was a lapse stays a fault of the trail; in other words, once the next digest is there.
  expect(await day()).toMatchObject({ faults: 1, newFindings: 0 })
  clock.at += 2 * dayMs
  expect(await day()).toMatchObject({ faults: 2, newFindings: 1 })
})
