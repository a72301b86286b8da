import { rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { makeFolder } from '../core/folders.ts'
import { policyJsonSchema } from '../limits/policy/policy.ts'
import { renderStreamsDoc } from '../streams/docs.ts'
import { streams } from '../streams/index.ts'
import { dbtPackage } from '../warehouse/dbt/package.ts'
import { action, type Cli, withCommon } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** The file of the generated reference of streams and tables. */
export const streamsDocFile = new URL('../../docs/streams.md', import.meta.url)

/** The file of the JSON Schema of policies, for editors. */
export const policySchemaFile = new URL('../../docs/policy/policy.schema.json', import.meta.url)

/** The JSON Schema of policies as its file has it. */
export function policySchemaText(): string {
  return `${JSON.stringify(policyJsonSchema(), null, 2)}\n`
}

/** The folder of the dbt package. All in it is generated. */
export const dbtFolder = new URL('../../dbt/', import.meta.url)

/** Writes what is derived from declarations anew. */
async function writeDocs(): Promise<void> {
  await writeFile(streamsDocFile, renderStreamsDoc(streams))
  await writeFile(policySchemaFile, policySchemaText())
  await rm(dbtFolder, { recursive: true, force: true })
  for (const [path, text] of dbtPackage(streams)) {
    const file = new URL(path, dbtFolder)
    makeFolder(dirname(fileURLToPath(file)))
    await writeFile(file, text)
  }
}

/** `platform-sync docs`, for people who change a stream, or the form of a policy. */
export function addDocs(program: Command, cli: Cli): void {
  withCommon(program.command('docs', { hidden: true }))
    .description('write docs/streams.md, docs/policy/policy.schema.json and dbt/ anew')
    .action(
      action(cli, async (io) => {
        await writeDocs()
        io.say('docs/streams.md, docs/policy/policy.schema.json and dbt/ are written.')
        io.result({ written: ['docs/streams.md', 'docs/policy/policy.schema.json', 'dbt/'] })
        return exitCodes.complete
      }),
    )
}
