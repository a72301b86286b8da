import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundling } from '../infra/constructs/worker-function.ts'

const { minify, mainFields, target, inject, esbuildArgs, sourceMap, sourcesContent } = bundling

const alias = Object.fromEntries(
  Object.entries(esbuildArgs).map(([name, path]) => [name.replace('--alias:', ''), path]),
)

/** How a function is bundled, in esbuild's words: what runs here is built as what runs on AWS. */
export const buildOptions = {
  bundle: true,
  platform: 'node',
  format: bundling.format,
  metafile: true,
  logLevel: 'error',
  ...{ minify, mainFields, target, inject, alias },
} as const satisfies Parameters<typeof build>[0]

/** Bundles a file of this folder into another folder, with its source map, and answers where it is. */
export async function buildInto(dir: string, name: string): Promise<string> {
  const outfile = join(dir, `${name}.cjs`)
  const entryPoints = [fileURLToPath(new URL(`${name}.ts`, import.meta.url))]
  // The stubs are reached by HTTP, AWS by HTTPS: for HTTP the SDK imports node:http, which makes Node load all that belongs
  // to fetch, 30 ms that no function spends. It is required instead.
  const supported = { 'dynamic-import': false }
  await build({ ...buildOptions, supported, entryPoints, outfile, sourcemap: sourceMap, sourcesContent })
  return outfile
}
