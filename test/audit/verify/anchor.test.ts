import { expect, it } from 'vitest'
import { signatureKeyOf } from '../../../lib/audit/trail/digest.ts'
import { keyOf } from '../../../lib/audit/trail/sealed.ts'
import { stored } from '../memory.ts'
import { faultsOf, recordEvidence } from './evidence.ts'

const { objects: evidence, tampered, digestHash } = await recordEvidence()

it('finds in a copy that all was set back only by what was kept elsewhere', async () => {
  const earlier = tampered((it) => {
    for (const sequence of [3, 4, 5]) it.delete(keyOf('entries', sequence))
    for (const sequence of [2, 3]) it.delete(keyOf('digests', sequence)) && it.delete(signatureKeyOf(sequence))
    it.delete(keyOf('findings', 1))
  })
  expect(await faultsOf(earlier)).toEqual([])
  expect(await faultsOf(earlier, { anchor: { expect: digestHash(1) } })).toEqual([])
  const digests = await faultsOf(earlier, { anchor: { expect: digestHash(2) } })
  expect(digests).toEqual(['set_back audit/digests/'])
  const asOf = Date.parse(String(stored(evidence, 'digests')[1]?.writtenAt))
  expect(await faultsOf(earlier, { anchor: { asOf } })).toEqual([`set_back ${keyOf('digests', 1)}`])
  expect(await faultsOf(evidence, { anchor: { asOf, expect: digestHash(2) } })).toEqual([])
  expect(await faultsOf(new Map(), { anchor: { asOf, expect: digestHash(2) } })).toEqual([
    'nothing_found audit/',
    'set_back audit/digests/',
    'set_back audit/digests/',
  ])
})

it('expects no digest that nobody has signed', async () => {
  const unsigned = tampered((it) => it.delete(signatureKeyOf(3)))
  expect(await faultsOf(unsigned, { anchor: { expect: digestHash(3) } })).toContain('set_back audit/digests/')
})
