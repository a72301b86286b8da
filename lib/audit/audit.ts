import type { Clock } from '../core/clock.ts'
import type { Json } from '../core/json.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Redactor } from '../redaction/redact.ts'
import { redactionKeyOf } from '../redaction/redaction-key.ts'
import { enterpriseControlRevisions } from '../streams/enterprise-control-revisions.ts'
import type { StreamObserver } from '../sync/ports.ts'
import type { Watch } from './changes/watch.ts'
import { createAuditHook } from './hook.ts'
import { createAuditObserver } from './observer.ts'
import { createDigester, type Digester } from './trail/digest.ts'
import { createIndexCache, type IndexCache } from './trail/index-cache.ts'
import type { HeadStore, Signer, TrailStore, WorkStore } from './trail/ports.ts'
import { createRecorder } from './trail/recorder.ts'
import { createTrail, type Trail } from './trail/trail.ts'

/** The audit trail with all that reads and writes it. */
export type Audit = {
  store: TrailStore
  head: HeadStore
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
  head: HeadStore
  signer: Signer
  watch: Watch
  clock: Clock
  metrics: Metrics
  random: () => number
  /** True when a digest is promised every day: someone has to be there to write it. */
  daily: boolean
}

const dayMs = 24 * 3_600_000
/** The promised time: a day, and two hours for a digest that is late. */
const promisedMs = 26 * 3_600_000

/** The audit trail over its stores. */
export function createAudit(deps: Deps): Audit {
  const { store, head, signer, watch, clock, metrics } = deps
  return {
    ...openTrail(deps),
    store,
    head,
    signer,
    watch,
    observer: (redactor) => {
      const own = openTrail(deps)
      const redact = (revision: Json) => redactor.redact(revision, enterpriseControlRevisions)
      const recorder = createRecorder({ ...own, clock, redactionKey: redactionKeyOf(redactor), redact })
      return createAuditObserver(createAuditHook({ ...own, recorder, watch }), metrics)
    },
  }
}

function openTrail(deps: Deps): Pick<Audit, 'trail' | 'index' | 'digester'> {
  const { work, signer, clock, daily } = deps
  const trail = createTrail(deps)
  const index = createIndexCache({ trail, work })
  const digester = createDigester({ trail, signer, clock, everyMs: dayMs, promisedMs: daily ? promisedMs : null })
  return { trail, index, digester }
}
