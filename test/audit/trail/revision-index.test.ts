import { expect, it } from 'vitest'
import { decodeRevisionIndex, encodeRevisionIndex, entryRefsOf } from '../../../lib/audit/trail/revision-index.ts'
import { auditParts, revision, scan, seen, signal } from '../memory.ts'

it('knows every place of a revision that went back and forth between contents, also when it is read back', async () => {
  const { recorder, trail, index } = auditParts()
  for (const days of [1, 2, 1, 2]) {
    await recorder.record([seen(revision(7, { sessionRetentionDays: days }))], scan, signal)
  }
  const held = await index.at((await trail.recoverHead(signal)).state.heads)
  const places = [1, 2, 3, 4].map((sequence) => ({ revision: 7, sequence }))
  expect(entryRefsOf(held)).toEqual(places)
  expect(entryRefsOf(decodeRevisionIndex(encodeRevisionIndex(held))!)).toEqual(places)
})
