import type { Clock } from '../core/clock.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Redactor } from '../redaction/redact.ts'
import { redactionKeyOf } from '../redaction/redaction-key.ts'
import type { StreamObserver } from '../sync/ports.ts'
import type { Watch } from './changes/watch.ts'
import { createAuditHook } from './hook.ts'
import { createAuditObserver } from './observer.ts'
import { createDigester, type Digester } from './trail/digest.ts'
import { createIndexCache, type IndexCache } from './trail/index-cache.ts'
import type { AuditHead, Signer, TrailStore, WorkStore } from './trail/ports.ts'
import { createRecorder } from './trail/recorder.ts'
import { createTrail, type Trail } from './trail/trail.ts'

/** The audit trail with all that reads and writes it. */
export type Audit = {
  store: TrailStore
  head: AuditHead
  trail: Trail
  index: IndexCache
  digester: Digester
  signer: Signer
  watch: Watch
  /** Records what a scan of the settings' history shows. One per attempt: it remembers what it has read. */
  observer(redactor: Redactor): StreamObserver
}

type Deps = {
  store: TrailStore
  work: WorkStore
  head: AuditHead
  signer: Signer
  watch: Watch
  clock: Clock
  metrics: Metrics
  random: () => number
  /** Whether a digest is promised every day: someone has to be there to write it. */
  daily: boolean
}

const dayMs = 24 * 3_600_000
/** A day, and two hours for a digest that is late. */
const promisedMs = 26 * 3_600_000

/** The audit trail over its stores. */
export function createAudit(deps: Deps): Audit {
  const { store, work, head, signer, watch, clock, metrics, daily } = deps
  const parts = () => {
    const trail = createTrail(deps)
    const index = createIndexCache({ trail, work })
    const digester = createDigester({ trail, signer, clock, everyMs: dayMs, promisedMs: daily ? promisedMs : null })
    return { trail, index, digester }
  }
  return {
    ...parts(),
    store,
    head,
    signer,
    watch,
    observer: (redactor) => {
      const own = parts()
      const recorder = createRecorder({ ...own, clock, redactionKey: redactionKeyOf(redactor) })
      return createAuditObserver(createAuditHook({ ...own, recorder, watch }), metrics)
    },
  }
}
