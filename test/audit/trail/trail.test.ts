import { describe, expect, it } from 'vitest'
import { lookAtTrail } from '../../../lib/audit/trail/look.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { auditParts, findingsIn, revision, revisions, scan, seen, signal, stored } from '../memory.ts'

function verify({ store, head }: Pick<ReturnType<typeof auditParts>, 'store' | 'head'>) {
  return verifyTrail(store, { head: async () => (await head.read())!.state.heads })
}

describe('recorders at the same time', () => {
  it('make one linear chain with nothing lost or doubled (AUD-03)', async () => {
    const parts = auditParts()
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => auditParts(parts).recorder.record(revisions(at + 1, at + 5), scan, signal)),
    )
    const entries = stored(parts.store.objects, 'entries')
    expect(entries.map(({ revision }) => revision as number).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 24 }, (_, at) => at + 1),
    )
    expect((await verify(parts)).faults).toEqual([])
  })

  it('write each finding once, and digests one after the other', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 5), scan, signal)
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const { recorder, digester } = auditParts(parts)
        await recorder.compare(new Set([1, 2, 5]), scan, signal)
        await digester.write(signal)
      }),
    )
    expect(findingsIn(parts.store.objects)).toHaveLength(1)
    expect(stored(parts.store.objects, 'digests')).toHaveLength(10)
    expect(await verify(parts)).toMatchObject({ faults: [], unsignedEntries: 0 })
  })
})

describe('a recorder that dies', () => {
  it('at any write leaves a trail without fault to those who look, which the next one completes to the same', async () => {
    const work = async (parts: ReturnType<typeof auditParts>) => {
      await parts.recorder.record(
        [...revisions(1, 2), seen(revision(3, { late: true })), ...revisions(4, 5)],
        scan,
        signal,
      )
      await parts.recorder.compare(new Set([1, 2, 3, 5]), scan, signal)
      await parts.digester.writeIfDue(signal)
    }
    const begun = async () => {
      const parts = auditParts()
      await parts.recorder.record(revisions(3, 4), scan, signal)
      return parts
    }
    const undisturbed = await begun()
    await work(undisturbed)
    const unsigned = (objects: Map<string, Uint8Array>) =>
      [...objects]
        .filter(([key]) => !key.endsWith('.sig'))
        .map(([key, bytes]) => [key, Buffer.from(bytes).toString()])
        .sort()

    let died = true
    for (let step = 1; died; step++) {
      const parts = await begun()
      let writes = 0
      // Dies right before or right after the write, for good.
      const dying =
        <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
        async (...args: A) => {
          writes += 0.5
          if (writes * 2 >= step) throw new Error('died')
          const result = await write(...args)
          writes += 0.5
          if (writes * 2 >= step) throw new Error('died')
          return result
        }
      const { store, work: workStore, head } = parts
      const doomed = auditParts({
        ...parts,
        store: { ...store, put: dying(store.put) },
        work: { ...workStore, put: dying(workStore.put), remove: dying(workStore.remove) },
        head: { read: () => head.read(), write: dying((state, version) => head.write(state, version)) },
      })
      died = await work(doomed).then(
        () => false,
        (error: Error) => error.message === 'died',
      )
      const left = new Map(parts.store.objects)
      const look = lookAtTrail(parts)
      expect((await verifyTrail(look.store, { head: look.heads })).faults).toEqual([])
      expect(parts.store.objects).toEqual(left)
      await work(auditParts(parts))
      expect(unsigned(parts.store.objects)).toEqual(unsigned(undisturbed.store.objects))
      expect((await verify(parts)).faults).toEqual([])
      if (step > 200) throw new Error('the dying never ends')
    }
  })

  it('leaves a head that, set back or lost, makes nobody write over an entry', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 2), scan, signal)
    const early = await parts.head.read()
    await parts.recorder.record(revisions(3, 4), scan, signal)
    const before = new Map(parts.store.objects)
    for (const current of [early, null]) {
      Object.assign(parts.head, { current })
      const { recorder } = auditParts({ ...parts, work: undefined })
      await expect(recorder.record(revisions(5, 5), scan, signal)).rejects.toMatchObject({ code: 'damaged_state' })
      expect(parts.store.objects).toEqual(before)
    }
  })
})
