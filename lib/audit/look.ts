import type { Watch } from './changes/watch.ts'
import { createIndexCache, type IndexCache } from './trail/index-cache.ts'
import { type LookStores, lookAtTrail, type TrailLook } from './trail/look.ts'

/** The audit trail with all that reads it. It can't change anything: those who check evidence must not touch it. */
export type AuditLook = TrailLook & {
  index: Pick<IndexCache, 'at'>
  watch: Watch
  /** Ids of the key that signs here; none where there is no key yet. */
  signingKeyIds(): Promise<string[]>
}

type Deps = LookStores & Pick<AuditLook, 'watch' | 'signingKeyIds'>

/** A look at the audit trail in its stores. */
export function createAuditLook({ watch, signingKeyIds, ...stores }: Deps): AuditLook {
  const trail = lookAtTrail(stores)
  const { at } = createIndexCache({ trail, work: { get: stores.work.get, put: async () => {} } })
  return { ...trail, index: { at }, watch, signingKeyIds }
}
