import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installInto } from '../../test/support/python.ts'

const scripts = fileURLToPath(new URL('.', import.meta.url))
const requirements = join(scripts, 'requirements.txt')
const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
const venv = fileURLToPath(new URL(`../../.cache/peers-${digest}`, import.meta.url))
const python = join(venv, 'bin', 'python')

/** Installs requirements.txt into a folder of its own, once for each state of it. Answers why it can't be had; null when it is there. */
export function install(): string | null {
  return installInto(venv, { executable: python, packages: ['-r', requirements] })
}

/** Runs a script of this folder and answers what it prints. @throws Error with what it wrote to stderr when it fails. */
export async function runScript(
  script: string,
  { argument, variables }: { argument: string; variables: Record<string, string> },
): Promise<string> {
  const env = {
    ...process.env,
    PYTHON: python,
    // Empty is off: where it is set, each record would be a write of its own.
    PYTHONUNBUFFERED: '',
    RUNTIME__DLTHUB_TELEMETRY: 'false',
    RUNTIME__LOG_LEVEL: 'ERROR',
    LOGLEVEL: 'ERROR',
    ...variables,
  }
  return (await promisify(execFile)(python, [script, argument], { cwd: scripts, env })).stdout
}
