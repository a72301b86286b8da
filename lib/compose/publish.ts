import * as z from 'zod'
import { PublishVariables, readVariables, StoreVariables, type Variables } from '../core/env.ts'
import { outcomesSource } from '../limits/outcomes/outcomes-scan.ts'
import type { FinishDeps, OtherScan } from '../publish/finish-run.ts'
import type { Announcer, Catalog } from '../publish/ports.ts'
import { publishedStreams } from '../publish/published-streams.ts'
import { createAnnouncer, silentAnnouncer } from '../stores/announcer.ts'
import { createCatalog, noCatalog } from '../stores/catalog.ts'
import { createLedgerReader, ledgerParts } from '../stores/ledger.ts'
import { createPublications } from '../stores/publications.ts'
import { createRuns } from '../stores/runs.ts'
import { defaultSettings, type SyncSettings } from '../sync/context.ts'
import { cloudOf, newOwner, type Runtime } from './runtime.ts'
import { openStores } from './stores.ts'

/** A runtime that may set how long a publisher holds its lease. */
export type PublishRuntime = Runtime & { settings?: Partial<Pick<SyncSettings, 'leaseMs'>> }

const Environment = StoreVariables.omit({ RECORDS_TABLE: true }).extend({
  ...PublishVariables.shape,
  LIMITS_TABLE: z.string().optional(),
})
type Environment = z.infer<typeof Environment>

/**
 * Builds what publishing a run needs.
 * @throws FatalError `configuration` that names each variable that is missing.
 */
export function composePublish(variables: Variables, runtime: PublishRuntime) {
  const env = readVariables(Environment, variables)
  const { clients, checkpoints, lake, index, clock, close } = openStores(env, runtime)
  const state = { dynamodb: clients.dynamodb, table: env.STATE_TABLE }
  const { leaseMs } = { ...defaultSettings, ...runtime.settings }
  const shared = { checkpoints, lake, index, clock, newOwner, leaseMs }
  const deps: FinishDeps = {
    ...shared,
    ...outletsOf(env),
    publications: createPublications(state),
    runs: createRuns(state),
    log: runtime.log,
    published: publishedStreams,
    others: outcomesOf(env, { ...shared, dynamodb: clients.dynamodb }),
  }
  return { finishDeps: () => deps, close }
}

/** The places where the warehouse and others learn what was published. A laptop has neither a catalog nor an event bus. */
function outletsOf(env: Environment): { catalog: Catalog; announcer: Announcer } {
  const { CATALOG_DATABASE: database, EVENT_BUS: bus, LAKE_BUCKET: bucket } = env
  const target = cloudOf(env)
  return {
    catalog: database ? createCatalog({ target, database, bucket, streams: publishedStreams }) : noCatalog,
    announcer: bus ? createAnnouncer({ target, bus, bucket }) : silentAnnouncer,
  }
}

type OutcomesDeps = Omit<Parameters<typeof outcomesSource>[0], 'reader'> &
  Pick<Parameters<typeof ledgerParts>[0], 'dynamodb'>

/** The outcomes of credit limits, where there is a table of them. */
function outcomesOf({ LIMITS_TABLE: table }: Environment, { dynamodb, ...deps }: OutcomesDeps): OtherScan[] {
  if (!table) return []
  const reader = createLedgerReader(ledgerParts({ dynamodb, table, clock: deps.clock, random: Math.random }))
  return [outcomesSource({ reader, ...deps })]
}
