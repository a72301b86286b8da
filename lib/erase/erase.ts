import type { Log } from '../core/log.ts'
import type { PublishLease } from '../publish/ports.ts'
import type { Erasure } from './done.ts'
import { eraseFiles, remakeTables } from './erase-files.ts'
import { eraseItems } from './erase-items.ts'
import { eraseInbox, eraseObjects, removeVersions, versionsUnder } from './erase-objects.ts'
import { renewing } from './erasing.ts'
import { doneKey, erasuresFolder, workKey } from './places.ts'
import { type Asked, type Prepared, planErasure, requirePossible } from './plan.ts'
import type { EraseDeps } from './ports.ts'
import { asPublisher } from './publisher.ts'

type Deps = EraseDeps & { log: Log }

/**
 * Erases a person. Each step writes what is without them, makes it what readers find, and only then removes what was there, so
 * that whoever reads meanwhile misses nothing. It can be killed anywhere and repeated: what the person is found by is kept
 * until the end, and whatever is still found is done again.
 */
export async function eraseUser(
  asked: Asked,
  { erasedBy, deps: given }: { erasedBy: string; deps: Deps },
): Promise<Erasure> {
  return await asPublisher(given, async (lease) => {
    const deps = renewing(given, lease)
    const prepared = await planErasure(asked, deps)
    requirePossible(prepared.plan)
    const { plan } = prepared
    const { signal } = lease
    const work = workKey(plan.fingerprint)
    await deps.lake.put(work, jsonOf(plan.person), { signal, contentType: json })
    await carryOut(prepared, lease, deps)
    // What was removed above is an old version where the bucket keeps these.
    const after = await planErasure(asked, deps)
    await removeVersions(after.found, deps)
    await deps.lake.remove([work])
    await removeVersions({ versions: await versionsUnder(erasuresFolder, deps) }, deps)
    const left = after.plan.places.filter(({ fate, place }) => fate !== 'stays' && !place.startsWith('old versions'))
    const now = deps.clock.now()
    const { fingerprint, places, unnamed } = plan
    const done: Erasure = { erasedAt: new Date(now).toISOString(), erasedBy, fingerprint, places, unnamed, left }
    await deps.lake.put(doneKey(now, plan.fingerprint), jsonOf(done), { signal, contentType: json })
    return done
  })
}

const json = 'application/json'

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

async function carryOut({ found, finder, plan }: Prepared, lease: PublishLease, deps: Deps): Promise<void> {
  const erasing = { finder, fingerprint: plan.fingerprint, lease, deps }
  await eraseFiles(found.files, erasing)
  await remakeTables(found.tables, erasing)
  await eraseObjects(found.objects, erasing)
  await eraseInbox(found.inbox, erasing)
  await deps.savedPlans.remove(found.savedPlans.map(({ key }) => key))
  await eraseItems(found.items, erasing)
}
