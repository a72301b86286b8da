import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { createCheckpoints } from '../../lib/stores/checkpoints.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { localClients } from '../stores/clients.ts'

const dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function open() {
  const emulators = await startEmulators({ dir })
  const { dynamodb, s3, destroy } = localClients(emulators.endpointUrl)
  const { STATE_TABLE = '', LAKE_BUCKET = '' } = emulators.environment
  const close = async () => {
    destroy()
    await emulators.close()
  }
  const checkpoints = createCheckpoints({ dynamodb, table: STATE_TABLE })
  return { checkpoints, lake: createObjectStore({ s3, bucket: LAKE_BUCKET }), close }
}

/** Lets a process write until it is killed, `ms` after its first acknowledged write; the last number it printed. */
function writeUntilKilled(ms: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'writer.ts'), dir], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout.on('data', (data: Buffer) => {
      if (output === '') setTimeout(() => child.kill('SIGKILL'), ms)
      output += data
    })
    child.stderr.on('data', (data: Buffer) => {
      errors += data
    })
    child.on('close', (_, signal) => {
      if (signal !== 'SIGKILL') reject(new Error(`the process ended by itself: ${errors}`))
      else resolve(Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1)))
    })
  })
}

describe('the emulators', () => {
  it('keep what was acknowledged when the process is killed at any instant, and start again', async () => {
    for (const ms of [1, 40, 120]) {
      const acknowledged = await writeUntilKilled(ms)
      const files = join(dir, 's3', 'platform-sync-lake', 'objects')
      for (const file of readdirSync(files)) {
        expect(readFileSync(join(files, file)).equals(Buffer.alloc(50_000, Number(file) % 256))).toBe(true)
      }
      const { checkpoints, lake, close } = await open()
      const completed = (await checkpoints.read('sessions'))?.scansCompleted ?? 0
      // The save that was under way may have landed, with the objects written before it.
      expect(completed - acknowledged).toBeOneOf([0, 1])
      const keys = await lake.list('objects/')
      expect(keys.length - completed).toBeOneOf([0, 1])
      for (const key of keys) {
        const bytes = await lake.get(key)
        expect(bytes).toHaveLength(50_000)
        expect(bytes?.every((byte) => byte === Number(key.slice(8)) % 256)).toBe(true)
      }
      expect(Number(Buffer.from((await lake.get('pointer'))!).toString()) - completed).toBeOneOf([0, 1])
      await close()
    }
  })
})
