import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Command } from 'commander'
import packageJson from '../../package.json' with { type: 'json' }
import { action, type Cli, withCommon } from './command.ts'
import { exitCodes } from './exit-codes.ts'

/** The folder of the package that `platform-sync client-package` writes. */
const clientFolder = fileURLToPath(new URL('../../.cache/client', import.meta.url))

/** What stands in the package's own package.json: the client needs two packages of all that the project needs. */
const manifest = {
  name: packageJson.name,
  version: packageJson.version,
  description: 'A client for the Agent Platform.',
  type: 'module',
  // The digits of long numbers are kept by a part of JSON that Node.js has since 22.
  engines: { node: '>=22' },
  exports: './platform/public.js',
  dependencies: { 'p-retry': packageJson.dependencies['p-retry'], zod: packageJson.dependencies.zod },
}

/**
 * Writes the client as JavaScript with its types into a folder, which `npm pack` and `npm install` take. What is in the
 * folder is replaced.
 */
export async function writeClient(folder: string): Promise<void> {
  const [tsc, config] = ['node_modules/typescript/bin/tsc', 'tsconfig.client.json'].map((path) =>
    fileURLToPath(new URL(`../../${path}`, import.meta.url)),
  ) as [string, string]
  await rm(folder, { recursive: true, force: true })
  await promisify(execFile)(process.execPath, [tsc, '-p', config, '--outDir', folder])
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** `platform-sync client-package`, for people who use the client in programs of their own. */
export function addClientPackage(program: Command, cli: Cli): void {
  withCommon(program.command('client-package', { hidden: true }))
    .description('write the client as a package of JavaScript, into .cache/client')
    .action(
      action(cli, async (io) => {
        await writeClient(clientFolder)
        io.say(`${clientFolder} is written. "npm pack" and "npm install" take it.`)
        io.result({ folder: clientFolder })
        return exitCodes.complete
      }),
    )
}
