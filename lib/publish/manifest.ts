import * as z from 'zod'
import { Counts, Notice, PartFile, ScanSummary, StreamStatus } from '../sync/checkpoint.ts'

/** What a run published: the only files that count, with the counts of each scan. */
export const Manifest = z.object({
  version: z.literal(1),
  runId: z.string(),
  publishedAt: z.string().describe('ISO 8601, UTC.'),
  scans: z.array(
    z.object({
      stream: z.string(),
      scanId: z.string(),
      status: z.enum(['complete', 'suspect']),
      reason: z.string().nullable(),
      startedAt: z.string(),
      completedAt: z.string(),
      records: z.int(),
      counts: Counts,
      files: z.array(PartFile),
    }),
  ),
})
export type Manifest = z.infer<typeof Manifest>

/** A published file, as a line of the list of its month says it. */
export const PublishedFile = PartFile.extend({
  runId: z.string().describe('The run whose manifest lists it.'),
  publishedAt: z.string().describe('ISO 8601, UTC.'),
  stream: z.string(),
  scanId: z.string(),
})
export type PublishedFile = z.infer<typeof PublishedFile>

/** The files of a manifest's scans, as lists say them. */
export function filesOf({ runId, publishedAt, scans }: Manifest): PublishedFile[] {
  return scans.flatMap(({ stream, scanId, files }) =>
    files.map((file) => ({ ...file, runId, publishedAt, stream, scanId })),
  )
}

/** What the parts of one folder became so far: whole files, and how many of the parts are in them. */
export const Merged = z.object({ files: z.array(PartFile), parts: z.int() })
export type Merged = z.infer<typeof Merged>

/** A table that warehouse engines open, and that lacks what is published. */
export const BehindTable = z.object({
  since: z.string().describe('When the first publication was made that it lacks: ISO 8601, UTC.'),
  reason: z
    .string()
    .nullable()
    .describe('Why it could not be brought up to date; null where there was no time for it.'),
  mayPass: z.boolean().optional().describe('Whether waiting may heal the reason.'),
  triedAt: z.number().describe('Unix ms; 0 before the first try.'),
  unended: z.int().optional().describe('Tries in a row that were begun and came to no end: who made them died.'),
  progress: z.string().optional().describe('The object that says how far its update is.'),
})
export type BehindTable = z.infer<typeof BehindTable>

/** What the publisher was about to do when it died: it is finished before anything else. */
export const PublishState = z.object({
  fence: z.int(),
  publishedAt: z
    .string()
    .default('')
    .describe(
      'When the last publication was made. The next one is later, whatever the clock says: tables go by that order.',
    ),
  behind: z
    .record(z.string(), BehindTable)
    .default(() => ({}))
    .describe('By name: tables follow what is published, and these are still to do so.'),
  pending: z
    .object({
      runId: z.string(),
      scans: z.array(ScanSummary),
      merged: z
        .record(z.string(), Merged)
        .default(() => ({}))
        .describe('By folder, so that a publisher that has much to merge and dies is not back at the beginning.'),
    })
    .nullable(),
})
export type PublishState = z.infer<typeof PublishState>

/** How a stream stood when a run of it had ended. Unix ms. */
export const Standing = z.object({
  completeAt: z.number().nullable().describe('When the last scan began that read its list whole.'),
  scanEndedAt: z.number().nullable(),
  records: z.int().nullable().describe('Live records after its last scan.'),
})
export type Standing = z.infer<typeof Standing>

/** How a run ended, stream by stream. */
export const RunRecord = z.object({
  runId: z.string(),
  scheduledAt: z.number(),
  finishedAt: z.number(),
  status: z.enum(['complete', 'partial', 'failed']),
  behind: z
    .array(z.object({ table: z.string(), since: z.string(), reason: z.string().nullable() }))
    .optional()
    .describe("Tables of the run's streams that lack what is published."),
  announced: z.literal(false).optional().describe('Nobody could be told yet; whoever finishes the run again tells it.'),
  streams: z.array(
    z.object({
      stream: z.string(),
      status: StreamStatus,
      reason: z.string().nullable(),
      counts: Counts.nullable().describe('What its scan has counted, over all runs that it took.'),
      ofRun: Counts.nullish().describe('What of that this run asked and received.'),
      notices: z.array(Notice).optional().describe('What deserves attention in it.'),
      standing: Standing.optional(),
      rules: z
        .record(z.string(), z.string())
        .optional()
        .describe('What the configuration said of its fields, by path: keep, hash or drop.'),
    }),
  ),
})
export type RunRecord = z.infer<typeof RunRecord>
