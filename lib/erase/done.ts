import * as z from 'zod'
import { erasuresFolder } from './places.ts'
import type { Bucket } from './ports.ts'

const PlaceCount = z.object({
  place: z.string(),
  objects: z.int().describe('Objects or items that named the person.'),
  mentions: z.int().describe('Rows, lines or entries in them.'),
  fate: z.enum(['rewritten', 'removed', 'yours', 'stays']),
})
/** How much of a person is in a place, and what becomes of it. */
export type PlaceCount = z.infer<typeof PlaceCount>

/** That a person was erased, and nothing that names them. */
export const Erasure = z.object({
  erasedAt: z.string().describe('ISO 8601, UTC.'),
  erasedBy: z.string(),
  fingerprint: z.string().describe('A keyed fingerprint of the address: who asks about an address can be answered.'),
  places: z.array(PlaceCount).describe('What was found.'),
  unnamed: z.array(z.string()).describe('Variables that named no place, so that it was not looked at.'),
  left: z
    .array(PlaceCount)
    .describe('What still names the person, since somebody wrote meanwhile. Without what stays by design.'),
})
export type Erasure = z.infer<typeof Erasure>

/** The erasures that are on record, oldest first. */
export async function erasuresDone(lake: Pick<Bucket, 'list' | 'get'>): Promise<Erasure[]> {
  const done: Erasure[] = []
  for (const key of await lake.list(erasuresFolder)) {
    const bytes = key.startsWith(`${erasuresFolder}begun/`) ? null : await lake.get(key)
    if (bytes) done.push(Erasure.parse(JSON.parse(Buffer.from(bytes).toString())))
  }
  return done
}
