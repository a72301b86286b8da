import { fileURLToPath } from 'node:url'

/** The oldest Node that may run the command on somebody's machine. */
const oldestNode = 'node18'

/** Builds the command of hooks as one file without dependencies. */
export async function bundleCommand(): Promise<string> {
  // Only who installs needs the bundler.
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('command.ts', import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: oldestNode,
    banner: { js: '#!/usr/bin/env node' },
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error('esbuild made no file of the hook command.')
  return output.text
}
