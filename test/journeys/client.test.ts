import { execFile } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { writeClient } from '../../lib/cli/client-package.ts'
import { startSimulator } from '../../lib/local/simulator/simulator.ts'

const script = `
import { createPlatformClient } from 'agent-platform-sync'
const { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl } = process.env as { [name in 'PLATFORM_APP_URL' | 'PLATFORM_BASE_URL']: string }
const platform = createPlatformClient({ appUrl, baseUrl, credentials: 'sim-key' })
const { computers } = await platform.listComputers()
const { sessionId } = await platform.createSession({ computerId: computers[0]!.id as string })
console.log((await platform.getSession(sessionId)).status)
`

it('the package is used by TypeScript in another folder that has it installed', async () => {
  const sim = await startSimulator({ counts: { computers: 1, sessions: 0, users: 0, reports: 0, revisions: 0 } })
  const folder = mkdtempSync(join(tmpdir(), 'platform-user-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    // As `npm install <folder>` does it.
    symlinkSync(new URL('../..', import.meta.url).pathname, join(folder, 'node_modules/agent-platform-sync'))
    writeFileSync(join(folder, 'main.mts'), script)
    const env = { ...process.env, PLATFORM_APP_URL: sim.appUrl, PLATFORM_BASE_URL: sim.baseUrl }
    const { stdout } = await promisify(execFile)(process.execPath, ['main.mts'], { cwd: folder, env })
    expect(stdout).toBe('idle\n')
  } finally {
    await sim.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

it('the package of JavaScript has its types, needs two packages, and runs as it is', async () => {
  const sim = await startSimulator({ counts: { computers: 1, sessions: 0, users: 0, reports: 0, revisions: 0 } })
  const folder = mkdtempSync(join(tmpdir(), 'platform-user-'))
  const run = promisify(execFile)
  try {
    const modules = join(folder, 'node_modules')
    await writeClient(join(modules, 'agent-platform-sync'))
    const { dependencies } = JSON.parse(readFileSync(join(modules, 'agent-platform-sync/package.json'), 'utf8'))
    // A copy, since a link would lead back to all packages that the project has.
    for (const name of [...Object.keys(dependencies), 'is-network-error']) copyPackage(name, modules)
    mkdirSync(join(modules, '@types'))
    for (const name of ['@types/node', 'undici-types']) symlinkSync(ours(`node_modules/${name}`), join(modules, name))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strictOptions }))
    writeFileSync(join(folder, 'main.ts'), script)
    copyFileSync(ours('test/platform/client-example.ts'), join(folder, 'review.ts'))
    // What the compiler finds stands in what it prints.
    const compiling = run(process.execPath, [ours('node_modules/typescript/bin/tsc')], { cwd: folder })
    expect((await compiling.catch((error: { stdout: string }) => error)).stdout).toBe('')
    const env = { ...process.env, PLATFORM_APP_URL: sim.appUrl, PLATFORM_BASE_URL: sim.baseUrl }
    const { stdout } = await run(process.execPath, ['out/main.js'], { cwd: folder, env })
    expect(stdout).toBe('idle\n')
    expect(readdirSync(join(folder, 'out')).toSorted()).toEqual(['main.js', 'review.js'])
  } finally {
    await sim.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

const strictOptions = {
  ...{ target: 'es2023', module: 'nodenext', types: ['node'], outDir: 'out' },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
}

function ours(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

function copyPackage(name: string, modules: string): void {
  cpSync(realpathSync(ours(`node_modules/${name}`)), join(modules, name), { recursive: true })
}
