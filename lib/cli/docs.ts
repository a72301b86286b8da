import { writeFile } from 'node:fs/promises'
import { renderStreamsDoc } from '../streams/docs.ts'
import { streams } from '../streams/index.ts'

/** Where the generated reference of streams and tables lies. */
export const streamsDocFile = new URL('../../docs/streams.md', import.meta.url)

/** Writes docs/streams.md anew from the declarations of the streams. */
export const writeStreamsDoc = (): Promise<void> => writeFile(streamsDocFile, renderStreamsDoc(streams))
