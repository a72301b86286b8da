import { PolicyMemory } from '../limits/policy/memory.ts'
import { streams } from '../streams/index.ts'
import type { Erasing } from './erasing.ts'
import type { Found, Hit } from './find.ts'
import type { Finder } from './person.ts'
import type { EraseDeps, OldVersion } from './ports.ts'

/**
 * Takes a person out of the other objects of the lake. No list says how large they are, so that each is replaced where it is,
 * in one step.
 */
export async function eraseObjects(hits: readonly Hit[], { finder, lease, deps }: Erasing): Promise<void> {
  const { lake, contents } = deps
  for (const { key, fate } of hits) {
    await lease.stillMine()
    const bytes = await lake.get(key)
    if (bytes === null) continue
    if (fate === 'removed' || isAboutSomebody(key)) await lake.remove([key])
    else {
      const contentType = key.endsWith('.gz') ? 'application/gzip' : 'application/json'
      await lake.put(key, await contents.rewriteText(key, bytes, finder), { signal: lease.signal, contentType })
    }
  }
}

/** A body of a record that is about a person goes with the record. */
function isAboutSomebody(key: string): boolean {
  return streams.some(({ name, about }) => about && key.startsWith(`bodies/${name}/`))
}

/**
 * Takes a person out of the inbox bucket. A dropped file goes as a whole: written anew it would be taken for one that somebody
 * dropped, and old limits would be set again.
 */
export async function eraseInbox(hits: readonly Hit[], { finder, lease, deps }: Erasing): Promise<void> {
  const { inbox, contents } = deps
  if (!inbox) return
  for (const { key, fate } of hits) {
    await lease.stillMine()
    const bytes = await inbox.get(key)
    if (bytes === null || fate === 'yours') continue
    if (fate === 'removed') await inbox.remove([key])
    else {
      const rest = key.endsWith('/memory.json') ? memoryWithout(bytes, finder) : bytes
      const text = await contents.rewriteText(key, rest, finder)
      await inbox.put(key, text, { signal: lease.signal, contentType: 'application/json' })
    }
  }
}

/** Whom the policy remembers is named by the key: the person's goes as a whole. */
function memoryWithout(bytes: Uint8Array, finder: Finder): Uint8Array {
  const memory = PolicyMemory.parse(JSON.parse(Buffer.from(bytes).toString()))
  const members = Object.fromEntries(Object.entries(memory.members).filter(([identity]) => !finder.is(identity)))
  return Buffer.from(JSON.stringify({ ...memory, members }))
}

/** Removes old versions of objects. */
export async function removeVersions({ versions }: Pick<Found, 'versions'>, deps: EraseDeps): Promise<void> {
  for (const name of ['lake', 'inbox'] as const) {
    const own = versions.filter(({ bucket }) => bucket === name).map(({ version }) => version)
    await deps[name]?.removeVersions(own)
  }
}

/** The old versions of the lake's objects under a prefix. */
export async function versionsUnder(prefix: string, { lake }: EraseDeps): Promise<Found['versions']> {
  const found: OldVersion[] = []
  for await (const version of lake.oldVersions()) if (version.key.startsWith(prefix)) found.push(version)
  return found.map((version) => ({ bucket: 'lake', version }))
}
