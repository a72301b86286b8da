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

/** What the publisher was about to do when it died: it is finished before anything else. */
export const PublishState = z.object({
  fence: z.int(),
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
