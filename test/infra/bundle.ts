import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { functionNamed, type Synthesized, synthesize } from './synthesized.ts'

/** What a handler answered, or the error that it threw, with its stack. */
type Answer = { result?: Record<string, unknown>; error?: string; stack?: string }

/** A function as it is deployed, running. `looks`: how often it may look at the time before that gets short. */
export type Bundle = { invoke(event: object, looks?: number): Promise<Answer>; log(): string; stop(): void }

/** An installation with all functions that there are, bundled. There is one for all suites of a file: nothing takes longer. */
export function bundledInstallation(): Synthesized {
  return synthesize({ hooks: { enabled: true }, messages: { enabled: true } }, { bundle: true })
}

/** The asset of a function, alone in an empty folder, with this environment and no other. */
export function startBundle(template: Synthesized, name: string, env: Record<string, string>): Bundle {
  const asset = assetOf(template, name)
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-bundle-'))
  for (const file of readdirSync(asset)) copyFileSync(join(asset, file), join(folder, file))
  copyFileSync(new URL('bundle-runner.mjs', import.meta.url), join(folder, 'run.mjs'))
  const child = spawn(process.execPath, ['run.mjs'], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
  return talkTo(child, folder)
}

function talkTo(child: ChildProcess, folder: string): Bundle {
  let output = ''
  const keep = (text: Buffer) => {
    output += text
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  const lines = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]()
  const died = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the bundle ended with ${code}:\n${output}`)))
  })
  died.catch(() => {})
  return {
    invoke: async (event, looks = 1_000_000) => {
      child.stdin?.write(`${JSON.stringify({ event, looks })}\n`)
      const { value, done } = await Promise.race([lines.next(), died])
      return done ? await died : (JSON.parse(value) as Answer)
    },
    log: () => output,
    stop: () => {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Where synth put the code of a function. */
export function assetOf(template: Synthesized, name: string): string {
  const { S3Key } = functionNamed(name, template).Code as { S3Key: string }
  return join(template.outdir, `asset.${S3Key.replace('.zip', '')}`)
}
