import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { installInto } from '../support/python.ts'

/** The emulator of AWS that runs whole stacks. It comes from PyPI, and is no part of the product. */
export const pinned = { name: 'ministack', version: '1.5.33', cryptography: '50.0.2' } as const

const root = fileURLToPath(new URL('../..', import.meta.url))
const venv = join(root, '.cache', `${pinned.name}-${pinned.version}`)
const executable = join(venv, 'bin', pinned.name)

/** Installs the emulator into a folder of its own, once. Answers why it can't be had; null when it is there. */
export function install(): string | null {
  // The signing key of KMS takes cryptography.
  const packages = [`${pinned.name}==${pinned.version}`, `cryptography==${pinned.cryptography}`]
  return installInto(venv, { executable, packages })
}

/** An account that lives in a folder: its emulator can be stopped and started again, at the same address. */
export type Account = {
  readonly endpoint: string
  /** What a program needs to reach it. */
  readonly environment: Record<string, string>
  /** Starts the emulator, anew if it runs. `enforced`: functions get their roles' credentials, and policies hold. */
  start(mode: { enforced: boolean }): Promise<void>
  stop(): Promise<void>
  /** Stops the emulator and forgets all. */
  remove(): Promise<void>
}

/** What the account is called. */
export const called = { id: '000000000000', region: 'us-east-1' } as const

/** What names the service of a request: the emulator tells services by the scope of a signature, which it does not check. */
export function authorizationFor(service: string): string {
  const scope = `Credential=test/20260101/${called.region}/${service}/aws4_request`
  return `AWS4-HMAC-SHA256 ${scope}, SignedHeaders=host, Signature=none`
}

/** An account that holds nothing yet. */
export async function createAccount(): Promise<Account> {
  const dir = mkdtempSync(join(tmpdir(), 'platform-sync-deploy-'))
  // Addresses of queues hold the port: it must stay the same.
  const port = await freePort()
  const endpoint = `http://127.0.0.1:${port}`
  let child: ChildProcess | null = null
  const stopIt = async () => {
    if (child) await stop(child)
    child = null
  }
  return {
    endpoint,
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_REGION: called.region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
    start: async ({ enforced }) => {
      await stopIt()
      child = spawnEmulator({ dir, port, enforced })
      await untilItAnswers(endpoint, child)
    },
    stop: stopIt,
    remove: async () => {
      await stopIt()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function spawnEmulator({ dir, port, enforced }: { dir: string; port: number; enforced: boolean }): ChildProcess {
  const log = openSync(join(dir, 'emulator.log'), 'a')
  const env = {
    ...process.env,
    // Functions run with the Node of the project.
    PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`,
    GATEWAY_PORT: String(port),
    AUTH: String(enforced),
    PERSIST_STATE: '1',
    S3_PERSIST: '1',
    S3_DATA_DIR: join(dir, 'objects'),
    STATE_DIR: join(dir, 'state'),
    SFN_WAIT_SCALE: '0.05',
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
  }
  return spawn(executable, [], { cwd: dir, stdio: ['ignore', log, log], env })
}

async function untilItAnswers(endpoint: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt++) {
    if (child.exitCode !== null) throw new Error(`the emulator ended with ${child.exitCode} before it answered`)
    const answer = await fetch(`${endpoint}/_ministack/health`).catch(() => null)
    if (answer?.ok) return
    await sleep(100)
  }
  throw new Error('the emulator does not answer after 20 s')
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await Promise.race([ended, sleep(10_000, undefined, { ref: false }).then(() => child.kill('SIGKILL'))])
  await ended
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
