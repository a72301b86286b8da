import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { renderStreamsDoc } from '../streams/docs.ts'
import { streams } from '../streams/index.ts'
import { action, type Cli, withCommon } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** The file of the generated reference of streams and tables. */
export const streamsDocFile = new URL('../../docs/streams.md', import.meta.url)

/** Writes docs/streams.md anew from the declarations of the streams. */
function writeStreamsDoc(): Promise<void> {
  return writeFile(streamsDocFile, renderStreamsDoc(streams))
}

/** `platform-sync docs`, for people who change a stream. */
export function addDocs(program: Command, cli: Cli): void {
  withCommon(program.command('docs', { hidden: true }))
    .description('write docs/streams.md anew')
    .action(
      action(cli, async (io) => {
        await writeStreamsDoc()
        io.say('docs/streams.md is written.')
        io.result({ written: ['docs/streams.md'] })
        return exitCodes.complete
      }),
    )
}
