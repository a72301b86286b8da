import type { Deadline } from '../core/deadline.ts'
import type { Json } from '../core/json.ts'
import type { Patience } from '../core/patience.ts'
import type { Endpoint } from '../platform/transport.ts'
import { readingOf } from '../streams/stream.ts'
import type { Source } from './ports.ts'

/** The part of the platform client that the engine needs. */
type Reader = {
  get(
    endpoint: Endpoint,
    query: Record<string, string>,
    options: { signal: AbortSignal; deadline: Deadline; patience: Patience; onRequest: () => void },
  ): Promise<Json>
}

/** Reads pages of streams through the platform client: the declaration says what to ask and how to read the answer. */
export function createSource(client: Reader, deadline: Deadline): Source {
  return {
    fetchPage: async (stream, token, { signal, patience, pageSize, parent, onRequest }) => {
      const reading = readingOf(stream)
      const { endpoint, query } = reading.request({ token, pageSize, ...(parent === undefined ? {} : { parent }) })
      const page = reading.parse(await client.get(endpoint, query, { signal, onRequest, deadline, patience }), pageSize)
      return { ...page, isLast: (newIds) => reading.endsWith(page, newIds) }
    },
  }
}
