import { describe, expect, it } from 'vitest'
import { sha256 } from '../../lib/core/hash.ts'
import { eraseUser } from '../../lib/erase/erase.ts'
import { addressesIn } from '../../lib/publish/iceberg/cleaning.ts'
import { currentSnapshot } from '../../lib/publish/iceberg/metadata.ts'
import { addressesOf, currentOf, logOf } from '../../lib/publish/iceberg/places.ts'
import { textRows } from '../../lib/stores/erase-rows.ts'
import { createFolderPointers } from '../../lib/stores/table-pointers.ts'
import { enterpriseControlRevisions } from '../../lib/streams/enterprise-control-revisions.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { ada, afterTwoNights, depsOver, tracesIn } from '../erase/erasing-world.ts'
import { bucketOver, copyOf, everythingIn, type Kept } from '../erase/kept.ts'

const nights = await afterTwoNights()

function erase(kept: Kept, n = Number.POSITIVE_INFINITY) {
  // The lease of one that died has run out.
  nights.world.clock.advance(61_000)
  const death = { n, writes: 0 }
  const erasing = eraseUser(ada, { erasedBy: 'an admin', deps: depsOver(kept, nights.world, death) })
  return erasing.then(
    ({ left }) => ({ died: false, left, writes: death.writes }),
    (error: Error) => {
      if (error.message !== 'killed') throw error
      return { died: true, left: [], writes: death.writes }
    },
  )
}

const tables = [organizationUsers, enterpriseControlRevisions, sessions].flatMap(({ tables: [main] }) => [
  logOf(main),
  currentOf(main),
])

/** What readers find: all rows of listed files and of Iceberg tables. Throws where a file is gone, or is another one. */
async function readersFind(kept: Kept): Promise<string[]> {
  const lake = bucketOver('lake', kept.lake)
  const deps = { ...depsOver(kept, nights.world), files: lake, address: 'memory://lake' }
  const found: string[] = []
  const add = async (place: string, key: string, wanted?: string) => {
    const bytes = kept.lake.objects.get(key)
    if (!bytes || (wanted && sha256(bytes) !== wanted)) throw new Error(`${place} names ${key}`)
    if (key.endsWith('.parquet')) for await (const row of textRows(bytes)) found.push(`${place} ${JSON.stringify(row)}`)
  }
  for (const file of await deps.lists.readFiles()) await add('a list', file.key, file.sha256)
  for await (const { scans } of deps.lists.manifests())
    for (const { files } of scans) for (const { key, sha256 } of files) await add('a manifest', key, sha256)
  const pointers = createFolderPointers({ objects: lake, address: deps.address })
  for (const table of tables) {
    const { metadata } = (await pointers.find(table.name))!
    const iceberg = nights.world.icebergDeps({ files: lake })
    for (const address of await addressesIn(currentSnapshot(metadata), { ...table, kind: 'current' }, iceberg))
      await add(table.name, addressesOf(deps.address).keyOf(address))
  }
  return found.toSorted()
}

describe('an erasure that dies', () => {
  it('before any write leaves readers whole, and repeated, and killed again, ends where one that lived did', async () => {
    const undisturbed = copyOf(nights.kept)
    const { writes, left } = await erase(undisturbed)
    expect(left).toEqual([])
    const wanted = await readersFind(undisturbed)
    expect(writes).toBeGreaterThan(30)
    for (let n = 1; n <= writes; n++) {
      const kept = copyOf(nights.kept)
      expect((await erase(kept, n)).died, `at ${n}`).toBe(true)
      await readersFind(kept)
      if (n % 3 === 0) await erase(kept, n)
      const again = await erase(kept)
      expect(again.left, `after ${n}`).toEqual([])
      expect(tracesIn(await everythingIn(kept)), `after ${n}`).toEqual([])
      expect(await readersFind(kept), `after ${n}`).toEqual(wanted)
    }
  })
})
