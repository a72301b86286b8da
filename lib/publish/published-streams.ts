import { outcomesStream } from '../limits/outcomes/outcomes-table.ts'
import { streams } from '../streams/index.ts'
import type { Stream } from '../streams/stream.ts'

/** Streams that come from this worker's own tables: publish, catalog, docs and queries know them, the engine never reads them. */
export const ownStreams: readonly Stream[] = [outcomesStream]

/** Everything that the warehouse shows. */
export const publishedStreams: readonly Stream[] = [...streams, ...ownStreams]
