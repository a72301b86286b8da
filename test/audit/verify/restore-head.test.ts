import { expect, it } from 'vitest'
import { restoreHead } from '../../../lib/audit/verify/restore-head.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { auditParts, memoryHead, revisions, scan, signal } from '../memory.ts'

async function recorded() {
  const parts = auditParts()
  await parts.recorder.record(revisions(1, 3), scan, signal)
  await parts.digester.write(signal)
  await parts.recorder.record(revisions(4, 5), scan, signal)
  const heads = (await parts.trail.recoverHead(signal)).state.heads
  return { ...parts, heads }
}

it('writes a head that was lost as it was, so that recording goes on', async () => {
  const { store, work, heads } = await recorded()
  const head = memoryHead()
  const restored = await restoreHead(store, head)
  expect(restored.heads).toEqual(heads)
  expect(restored.verification.unsignedEntries).toBe(2)
  const again = auditParts({ store, work, head })
  await again.recorder.record(revisions(1, 6), scan, signal)
  const { faults, entries } = await verifyTrail(store, {
    head: async () => (await again.trail.recoverHead(signal)).state.heads,
  })
  expect([faults, entries.checked]).toEqual([[], 6])
})

it('refuses where nothing was lost, and where stored evidence is damaged', async () => {
  const { store, head } = await recorded()
  await expect(restoreHead(store, head)).rejects.toMatchObject({ code: 'usage' })
  store.objects.delete('audit/entries/0000000002.json')
  const lost = memoryHead()
  await expect(restoreHead(store, lost)).rejects.toMatchObject({ code: 'damaged_state' })
  expect(lost.current).toBe(null)
})
