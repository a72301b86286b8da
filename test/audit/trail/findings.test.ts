import { describe, expect, it } from 'vitest'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import type { Json } from '../../../lib/core/json.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import { redactionKeyOf } from '../../../lib/redaction/redaction-key.ts'
import { auditParts, findingsIn, revision, revisions, scan, seen, signal, stored } from '../memory.ts'

function verify({ store, head }: Pick<ReturnType<typeof auditParts>, 'store' | 'head'>) {
  return verifyTrail(store, { head: async () => (await head.read())!.state.heads })
}

describe('findings', () => {
  it('say that a revision changed after it was recorded, and its new content is recorded, too', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 3), scan, signal)
    const changed = seen(revision(2, { sandbox: { enabled: false } }))
    await parts.recorder.record([changed], { runId: 'run-2', scanId: 'scan-2' }, signal)
    await auditParts(parts).recorder.record([changed, ...revisions(3, 3)], scan, signal)
    expect(findingsIn(parts.store.objects)).toMatchObject([
      { kind: 'revision_changed', severity: 'critical', revision: 2, recordedAs: 2, runId: 'run-2', scanId: 'scan-2' },
    ])
    expect(stored(parts.store.objects, 'entries').map(({ revision }) => revision)).toEqual([1, 2, 3, 2])
    expect((await verify(parts)).faults).toEqual([])
  })

  it('say what vanished, what returned and what is missing between, once each', async () => {
    const parts = auditParts()
    await parts.recorder.record([...revisions(1, 5), ...revisions(9, 9)], scan, signal)
    const list = (...numbers: number[]) => auditParts(parts).recorder.compare(new Set(numbers), scan, signal)
    await list(1, 4, 5, 9)
    await list(1, 4, 5, 9)
    parts.work.objects.clear()
    await list(1, 3, 4, 5, 9)
    await list(1, 4, 5, 9)
    expect(findingsIn(parts.store.objects).map((it) => [it.kind, it.revision, it.revisionTo])).toEqual([
      ['revision_vanished', 2, 3],
      ['history_gap', 6, 8],
      ['revision_returned', 3, 3],
      ['revision_vanished', 3, 3],
    ])
    expect((await verify(parts)).faults).toEqual([])
  })

  it('tell what was missing when the record began as history, and what is missing since as news', async () => {
    const parts = auditParts()
    const show = async (list: number[]) => {
      const again = auditParts(parts)
      await again.recorder.record(
        list.map((number) => seen(revision(number))),
        scan,
        signal,
      )
      await again.recorder.compare(new Set(list), scan, signal)
      await again.digester.writeIfDue(signal)
    }
    // A digest of the days before says that there is nothing.
    await parts.digester.write(signal)
    const first = [4, 5, 9]
    await show(first)
    await show([...first, 10, 13])
    await show([2, ...first, 10, 13])
    expect(findingsIn(parts.store.objects).map((it) => [it.kind, it.severity, it.revision, it.revisionTo])).toEqual([
      ['history_gap', 'info', 6, 8],
      ['revision_gap', 'warning', 11, 12],
      ['history_gap', 'info', 3, 3],
    ])
    parts.work.objects.clear()
    await show([2, ...first, 10, 13])
    expect(findingsIn(parts.store.objects)).toHaveLength(3)
  })

  it('say once of a suspect list that it is suspect and why, and of no revision that it lacks (AUD-09)', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 30), scan, signal)
    const doubt = (scanId: string, reason: string) =>
      auditParts(parts).recorder.recordSuspect(reason, { runId: 'run-2', scanId }, signal)
    const reason = '30 of 30 known records are missing from the list'
    for (const scanId of ['scan-2', 'scan-2', 'scan-3']) await doubt(scanId, reason)
    parts.work.objects.clear()
    await doubt('scan-2', reason)
    expect(findingsIn(parts.store.objects)).toMatchObject([
      {
        kind: 'suspect_scan',
        severity: 'warning',
        revision: null,
        scanId: 'scan-2',
        message: expect.stringContaining(reason),
      },
    ])
    await doubt('scan-4', 'another reason')
    parts.clock.at += 24 * 3_600_000
    await doubt('scan-5', 'another reason')
    expect(findingsIn(parts.store.objects).map(({ scanId }) => scanId)).toEqual(['scan-2', 'scan-4', 'scan-5'])
  })

  it('say nothing about a full list', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(4, 9), scan, signal)
    await parts.recorder.compare(new Set([4, 5, 6, 7, 8, 9]), scan, signal)
    expect(findingsIn(parts.store.objects)).toEqual([])
  })

  it('do not take another redaction key for a change, and do take a change under another key for one', async () => {
    const parts = auditParts()
    const under = (key: string, settings: { [key: string]: Json }) => {
      const redactor = createRedactor(key)
      const { recorder } = auditParts({ ...parts, redactionKey: redactionKeyOf(redactor) })
      const record = redactor.redact(revision(1, settings), { secretPaths: [] }) as ReturnType<typeof revision>
      return recorder.record([seen(record)], scan, signal)
    }
    await under('old', { apiKey: 's1', url: 'https://u:p@h' })
    await under('new', { apiKey: 's1', url: 'https://u:p@h' })
    expect(parts.store.objects.size).toBe(1)
    await under('new', { apiKey: 's2', url: 'https://u:p@h' })
    await under('third', { apiKey: 's2', url: 'https://u:p@other' })
    expect(findingsIn(parts.store.objects).map(({ kind }) => kind)).toEqual(['revision_changed', 'revision_changed'])
  })

  it('do not take a secret that a later release finds for a change, whatever became of the key', async () => {
    const url = 'https://u:p@h'
    const early = auditParts({ redactionKey: redactionKeyOf(createRedactor('old')) })
    // The release that recorded it left the note as it was.
    await early.recorder.record([seen(revision(1, { note: url }))], scan, signal)
    const later = (key: string, note: string) => {
      const redactor = createRedactor(key)
      const redact = (record: Json) => redactor.redact(record, { secretPaths: [] })
      const { recorder } = auditParts({ ...early, redactionKey: redactionKeyOf(redactor), redact })
      return recorder.record([seen(redact(revision(1, { note })) as ReturnType<typeof revision>)], scan, signal)
    }
    await later('old', url)
    await later('new', url)
    expect(early.store.objects.size).toBe(1)
    await later('new', 'https://u:p@other')
    expect(findingsIn(early.store.objects).map(({ kind }) => kind)).toEqual(['revision_changed'])
  })
})
