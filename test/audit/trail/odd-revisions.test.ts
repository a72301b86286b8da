import { expect, it } from 'vitest'
import { type RevisionDiff, readHistory } from '../../../lib/audit/changes/history.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import { renderReport } from '../../../lib/audit/report/report.ts'
import { entryRefsOf } from '../../../lib/audit/trail/revision-index.ts'
import { genesis, keyOf, seal } from '../../../lib/audit/trail/sealed.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import type { Json } from '../../../lib/core/json.ts'
import { auditParts, findingsIn, revisions, scan, seen, signal, stored } from '../memory.ts'
import { contentOf } from '../report/content.ts'

function verify({ store, head }: Pick<ReturnType<typeof auditParts>, 'store' | 'head'>) {
  return verifyTrail(store, { head: async () => (await head.read())!.state.heads })
}

it.each<[string, { [key: string]: Json }]>([
  ['no other field', {}],
  ['nulls', { settings: null, user: null, updatedAt: null }],
  ['an empty list for an empty map', { settings: [], user: [], updatedAt: 0 }],
  ['texts and numbers', { settings: 'none', user: 'ana', updatedAt: 1_767_000_000_000 }],
  ['lists and objects', { settings: [[1], { a: 1 }], user: [{ id: 'x' }], updatedAt: { seconds: 5 } }],
])('keeps a revision with %s as it came', async (_, fields) => {
  const parts = auditParts()
  const odd = seen({ revision: 2, ...fields })
  const record = (again: ReturnType<typeof auditParts>) =>
    again.recorder.record([...revisions(1, 1), odd, ...revisions(3, 3)], scan, signal)
  await record(parts)
  const {
    version: _v,
    hash: _h,
    sequence: _s,
    previousHash: _p,
    recordedAt: _r,
    redactionKey: _k,
    ...kept
  } = stored(parts.store.objects, 'entries')[1]!
  expect(kept).toEqual({ revision: 2, ...fields })
  await record(auditParts({ ...parts, work: undefined }))
  expect(stored(parts.store.objects, 'entries')).toHaveLength(3)
  expect((await verify(parts)).faults).toEqual([])
  const { heads } = (await parts.trail.recoverHead(signal)).state
  const refs = entryRefsOf(await parts.index.at(heads))
  const diffs: RevisionDiff[] = []
  for await (const diff of readHistory((at) => parts.trail.read('entries', at), refs, {
    watch: createWatch(watchRules),
  })) {
    diffs.push(diff)
  }
  expect(diffs.map(({ entry }) => entry.revision)).toEqual([1, 2, 3])
  expect(renderReport(await contentOf(parts))).toContain('<a href="#entry-2">2</a>')
})

it('cuts off what is nested deeper than 200 levels, and finds no change in it', async () => {
  const parts = auditParts()
  let deep: Json = 'bottom'
  for (let at = 0; at < 5_000; at++) deep = at % 2 ? [deep] : { a: deep }
  const record = { revision: 1, settings: { shallow: 1, deep } }
  for (const again of [parts, auditParts(parts), auditParts({ ...parts, work: undefined })]) {
    await again.recorder.record([{ hash: 'of all of it', record }], scan, signal)
  }
  expect(findingsIn(parts.store.objects)).toEqual([])
  const [entry, ...rest] = stored(parts.store.objects, 'entries')
  expect(rest).toEqual([])
  expect(entry?.settings).toMatchObject({ shallow: 1 })
  expect(JSON.stringify(entry)).toContain('[nested deeper than 200 levels]')
  expect((await verify(parts)).faults).toEqual([])
  await parts.recorder.record([{ hash: 'other', record: { ...record, settings: { shallow: 2, deep } } }], scan, signal)
  expect(findingsIn(parts.store.objects)).toMatchObject([{ kind: 'revision_changed' }])
})

it('goes on when someone stored what is no entry and no finding', async () => {
  const parts = auditParts()
  await parts.recorder.record(revisions(1, 2), scan, signal)
  await parts.recorder.compare(new Set([1]), scan, signal)
  const nothing = JSON.parse('{"writtenBy":"someone"}')
  for (const chain of ['entries', 'findings'] as const) {
    parts.store.objects.set(keyOf(chain, 1), seal({ ...nothing, version: 1, sequence: 1, previousHash: genesis }).bytes)
  }
  const again = auditParts({ ...parts, work: undefined })
  await again.recorder.record(revisions(1, 3), scan, signal)
  expect(stored(parts.store.objects, 'entries').map(({ revision }) => revision)).toEqual([undefined, 2, 1, 3])
})
