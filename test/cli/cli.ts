import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { runCli } from '../../lib/cli/program.ts'
import { systemClock } from '../../lib/core/clock.ts'

// Code is stripped and compiled once for all processes of the suite.
const shared = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: join(tmpdir(), 'platform-sync-compile-cache') }

const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))

export type Ended = { code: number | null; stdout: string; stderr: string }

/** The command line in a folder, as a person runs it: a process of its own, with nothing set but what is given. */
export function cliIn(cwd: string, env: Record<string, string> = {}) {
  const start = (args: readonly string[], more: Record<string, string> = {}) =>
    spawn(process.execPath, [main, ...args], { cwd, env: { ...shared, ...env, ...more } })
  const run = (args: readonly string[], more: Record<string, string> = {}) => ended(start(args, more))
  /** The one JSON document on stdout. */
  const json = async (args: readonly string[], more: Record<string, string> = {}) => {
    const { stdout, ...rest } = await run([...args, '--json'], more)
    return { ...rest, stdout, document: JSON.parse(stdout) }
  }
  return { start, run, json }
}

/** The same in this process, for what needs no process of its own: quicker. Folders must be absolute. */
export async function cliHere(
  args: readonly string[],
  variables: Record<string, string> = {},
  interrupted = new AbortController().signal,
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let code: number | null = null
  const exit = (ended: number) => {
    code = ended
  }
  await runCli(args, {
    variables,
    stdout,
    stderr,
    exit,
    fetch,
    useProxies: () => {},
    clock: systemClock,
    interrupted,
  })
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

export function ended(child: ReturnType<typeof spawn>): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let stdout = ''
    let stderr = ''
    child.stdout?.on('data', (text) => {
      stdout += text
    })
    child.stderr?.on('data', (text) => {
      stderr += text
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** Waits until something is so, however long that takes on a busy machine. */
export function soon(isSo: () => boolean): Promise<boolean> {
  return vi.waitUntil(isSo, { interval: 20, timeout: 100_000 })
}

export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'platform-sync-cli-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** What a shell makes of a line: words, with quotes. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')
}
