import type { RunRecord } from '../../publish/manifest.ts'
import { streams } from '../../streams/index.ts'
import type { Counts } from '../../sync/checkpoint.ts'
import { defaultSettings } from '../../sync/context.ts'

/** What a stream of a run asks of AWS. */
export type Calls = {
  puts: number
  gets: number
  stateWrites: number
  stateReads: number
  reads: number
  writes: number
}

/** What decides how much a stream of a run asks. `flush`: records between two flushes. */
export type Work = { records: number; changed: number; deleted: number; tables: number; flush: number }

/** What a stream of a run asks of AWS, at most: the table of docs/operations.md. */
export function callsOf({ records, changed, deleted, tables, flush }: Work): Calls {
  const flushes = Math.ceil(records / flush) + Math.ceil(deleted / flush)
  const isChanged = changed + deleted > 0
  return {
    puts: flushes + 4 + tables + (isChanged ? (flushes + 10) * tables + 5 : 0),
    gets: 4 + (isChanged ? (flushes + 21) * tables + 1 : 0),
    stateWrites: flushes + 8 + (isChanged ? 1 : 0),
    stateReads: 5,
    reads: changed,
    writes: changed + deleted,
  }
}

/** List prices in USD, us-east-1, on demand, as published in November 2026: per request, unit and GB-second. */
export const listPrices = { writeUnit: 0.625e-6, readUnit: 0.125e-6, put: 5e-6, get: 4e-7, gigabyteSecond: 1.33334e-5 }

/** What S3 and DynamoDB cost by these calls, USD. Items have 2 KB: two units to write, one to read. */
export function storageUsd({ puts, gets, stateWrites, stateReads, reads, writes }: Calls): {
  s3: number
  dynamodb: number
} {
  return {
    s3: puts * listPrices.put + gets * listPrices.get,
    dynamodb: 2 * (writes + stateWrites) * listPrices.writeUnit + (reads + stateReads) * listPrices.readUnit,
  }
}

/** What a run asked of the platform and of AWS. `usd` is null where the table of docs/operations.md doesn't hold. */
export type RunCost = {
  requests: number
  received: number
  recordWrites: number
  files: number
  bytes: number
  usd: number | null
}

/** Counts what a run cost. Lists per parent are divided among 64 shards, for which nobody has measured a table. */
export function costOf({ streams: ended }: RunRecord, published: readonly { bytes: number }[]): RunCost {
  const asked = ended.flatMap(({ stream, counts, ofRun }) => {
    const known = ofRun ?? counts
    return known ? [{ stream, counts: known }] : []
  })
  const sum = (of: (counts: Counts) => number) => asked.reduce((total, { counts }) => total + of(counts), 0)
  const costs = asked.map(({ stream, counts }) => usdOf(stream, counts))
  return {
    requests: sum(({ apiCalls }) => apiCalls),
    received: sum(({ received }) => received),
    recordWrites: sum(({ inserted, updated, deleted }) => inserted + updated + deleted),
    files: published.length,
    bytes: published.reduce((total, { bytes }) => total + bytes, 0),
    usd: costs.every((usd) => usd !== null) ? costs.reduce((total, usd) => total + usd, 0) : null,
  }
}

function usdOf(name: string, { received, inserted, updated, deleted }: Counts): number | null {
  const stream = streams.find((each) => each.name === name)
  if (!stream || stream.parent) return null
  const { s3, dynamodb } = storageUsd(
    callsOf({
      ...{ records: received, changed: inserted + updated, deleted },
      ...{ tables: stream.tables.length, flush: defaultSettings.flushRecords },
    }),
  )
  return s3 + dynamodb
}
