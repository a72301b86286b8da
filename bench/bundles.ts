import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { buildOptions as options } from './build.ts'
import { median } from './figures.ts'

const run = promisify(execFile)
/** What lies beside the handlers. */
const beside = new Set(['credentials.ts', 'event.ts', 'stacks.ts', 'style-sheets.ts', 'telemetry.ts'])

/** A Lambda bundle: its size, and how long its import takes beside that of the SDK clients in it alone. */
export type BundleFigures = { name: string; bytes: number; importMs: number; clientsMs: number }

/** Bundles each function as the stack does and imports it so many times, in an empty folder and a fresh process each time. */
export async function measureBundles(imports: number): Promise<BundleFigures[]> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-bundles-'))
  try {
    const files = await readdir('functions')
    const handlers = files.filter((file) => !beside.has(file)).sort()
    const figures: BundleFigures[] = []
    for (const file of handlers) figures.push(await measureBundle({ dir, imports, name: basename(file, '.ts') }))
    return figures
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** The clients alone, as they are in their packages: the measure stays what it is, whatever form our bundles have. */
const asModule = {
  ...options,
  format: 'esm' as const,
  inject: [],
  alias: {},
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
}

type Measuring = { dir: string; name: string; imports: number }

async function measureBundle({ dir, name, imports }: Measuring): Promise<BundleFigures> {
  const bundle = join(dir, `${name}.cjs`)
  const clients = join(dir, `${name}-clients.mjs`)
  const { metafile } = await build({ ...options, entryPoints: [`functions/${name}.ts`], outfile: bundle })
  const packages = clientsIn(Object.keys(metafile.inputs))
  const contents = packages.map((client, i) => `export * as client${i} from '${client}'`).join('\n')
  await build({ ...asModule, stdin: { contents, resolveDir: process.cwd() }, outfile: clients })
  const [importMs, clientsMs] = await importTimes([bundle, clients], imports)
  return { name, bytes: (await stat(bundle)).size, importMs, clientsMs }
}

function clientsIn(inputs: string[]): string[] {
  return [
    ...new Set(
      inputs.flatMap((input) => /node_modules\/(@aws-sdk\/(?:client|lib)-[a-z0-9-]+)\//.exec(input)?.[1] ?? []),
    ),
  ]
}

/** Medians, taken in turns, so that whatever else the machine does falls on both alike. */
async function importTimes(files: [string, string], imports: number): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let i = 0; i < imports; i++) {
    for (const side of [0, 1] as const) times[side].push(await importMs(files[side]))
  }
  return [median(times[0]), median(times[1])]
}

/** CPU time of the import: less shaken by a busy machine than the clock. Lambda, too, requires what is CommonJS. */
async function importMs(file: string): Promise<number> {
  const load = file.endsWith('.cjs') ? "process.getBuiltinModule('module').createRequire('/')" : 'await import'
  const code = `const before = process.cpuUsage()
    ${load}(${JSON.stringify(file)})
    const { user, system } = process.cpuUsage(before)
    console.log((user + system) / 1000)
    process.exit()`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { env: environment })
  return Number(stdout)
}

// Nothing is called at import; the names only have to be there.
const environment = {
  AWS_REGION: 'us-east-1',
  PLATFORM_APP_URL: 'https://app.example.com',
  PLATFORM_BASE_URL: 'https://api.example.com',
  PLATFORM_SECRET_ID: 'secret',
  REDACTION_SECRET_ID: 'secret',
  HOOKS_SECRET_ID: 'secret',
  ...Object.fromEntries(
    [
      ...['STATE_TABLE', 'RECORDS_TABLE', 'LIMITS_TABLE', 'HOOKS_TABLE'],
      ...['LAKE_BUCKET', 'AUDIT_BUCKET', 'INBOX_BUCKET'],
    ].map((name) => [name, 'name']),
  ),
  LIMITS_QUEUE_URL: 'https://sqs.example.com/queue',
  LIMITS_DEAD_LETTERS_URL: 'https://sqs.example.com/dead-letters',
  HOOKS_QUEUE_URL: 'https://sqs.example.com/hooks',
  AUDIT_SIGNING_KEY_ARN: 'arn:aws:kms:us-east-1:000000000000:key/name',
  POWERTOOLS_LOG_LEVEL: 'SILENT',
}
