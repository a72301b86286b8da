import fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffSettings } from '../../../lib/audit/changes/diff.ts'
import type { WatchedChange } from '../../../lib/audit/changes/history.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import { decisionsOf } from '../../../lib/audit/report/decisions.ts'
import type { Json } from '../../../lib/core/json.ts'

const watch = createWatch(watchRules)

function changesFrom(before: Json, after: Json): WatchedChange[] {
  return diffSettings(before, after, { comparableSecrets: true }).map((change) => ({
    ...change,
    matches: watch(change),
  }))
}

function shapesOf(before: Json, after: Json): string[] {
  return decisionsOf(changesFrom(before, after)).map(
    ({ path, form, kind, changes }) => `${path} ${form} ${kind} ${changes.length}`,
  )
}

it('the items of a list are one decision, also when some came and some went', () => {
  expect(shapesOf({ ips: ['a', 'b', 'c'] }, { ips: ['b', 'd', 'e', 'f'] })).toEqual(['ips items changed 5'])
  expect(shapesOf({ ips: [] }, { ips: ['a'] })).toEqual(['ips items added 1'])
})

it('settings in one place that came together are one decision, named after the place', () => {
  const network = { allowedDomains: ['a'], httpProxyPort: 1, socksProxyPort: 2, odd: 'x' }
  expect(shapesOf({ box: {} }, { box: { network } })).toEqual(['box.network settings added 4'])
})

it('what deserves attention is not folded together with what does not', () => {
  const before = { sandbox: { enabled: true, a: 1, b: 2, c: 3 } }
  const after = { sandbox: { enabled: false, a: 2, b: 3, c: 4 } }
  expect(shapesOf(before, after).toSorted()).toEqual(['sandbox settings changed 3', 'sandbox.enabled value changed 1'])
})

it('loses no change and shows none twice, whatever the settings are', () => {
  const settings = fc.dictionary(
    fc.constantFrom('a', 'sandbox', 'b c', 'x.y'),
    fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.array(fc.record({ id: fc.constantFrom('1', '2', ']["'), value: fc.integer({ max: 3, min: 0 }) })),
    ),
  )
  fc.assert(
    fc.property(settings, settings, (before, after) => {
      const changes = changesFrom(before as Json, after as Json)
      const inDecisions = decisionsOf(changes).flatMap((decision) => decision.changes)
      expect(inDecisions).toHaveLength(changes.length)
      expect(new Set(inDecisions)).toEqual(new Set(changes))
    }),
    { numRuns: 50 },
  )
})
