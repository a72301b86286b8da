import type { Deadline } from '../core/deadline.ts'
import type { Json } from '../core/json.ts'
import type { Patience } from '../core/patience.ts'
import { type CutRecord, cutBody, type Recognizer } from '../platform/cut.ts'
import type { Reading } from '../platform/paging.ts'
import type { Endpoint } from '../platform/transport.ts'
import { readingOf } from '../streams/stream.ts'
import type { Source } from './ports.ts'

type Options = {
  signal: AbortSignal
  deadline: Deadline
  patience: Patience
  onRequest: () => void
  read?: (bytes: Buffer) => Json | undefined
}

/** The part of the platform client that the engine needs. */
type Reader = { get(endpoint: Endpoint, query: Record<string, string>, options: Options): Promise<Json> }

/** Reads pages of streams through the platform client: the declaration says what to ask and how to read the answer. */
export function createSource(client: Reader, deadline: Deadline): Source {
  return {
    fetchPage: async (stream, token, { signal, patience, pageSize, parent, recognizer, onRequest }) => {
      const reading = readingOf(stream)
      const { endpoint, query } = reading.request({ token, pageSize, ...(parent === undefined ? {} : { parent }) })
      const cutting = recognizer && cutter(reading, recognizer)
      const options = { signal, onRequest, deadline, patience, ...(cutting ? { read: cutting.read } : {}) }
      const page = reading.parse(await client.get(endpoint, query, options), pageSize)
      return { ...page, cut: cutting?.records(), isLast: (newIds) => reading.endsWith(page, newIds) }
    },
  }
}

/** Reads the body of an answer but for the records that are known; what it can't cut is read whole. */
function cutter({ unread }: Reading, recognizer: Recognizer) {
  if (unread === null) return undefined
  let records: CutRecord[] | undefined
  const read = (bytes: Buffer): Json | undefined => {
    const body = cutBody(bytes, unread, recognizer)
    records = body?.records
    return body?.envelope
  }
  return { read, records: () => records }
}
