import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { cliHere, ended, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))

/** A sync in a process that may write files of so many blocks of a kilobyte or half of one, as on a disk that is full. */
function syncWithin(blocks: number, dir: string) {
  const script = `ulimit -f ${blocks}; exec "$0" "$@"`
  const env = { PATH: process.env.PATH ?? '' }
  return ended(spawn('sh', ['-c', script, process.execPath, main, 'sync', '--local', dir, '--json'], { env }))
}

it('a full disk ends a sync in one sentence and one document, and a sync with room again completes it', async () => {
  const dir = join(folder.path, 'data')
  const { code, stdout, stderr } = await syncWithin(300, dir)
  const { error } = JSON.parse(stdout)
  expect(error).toMatchObject({ code: 'disk_full', message: expect.stringContaining(`${dir} can't be written`) })
  expect(code).toBe(1)
  expect(stderr.trimEnd().endsWith(error.message)).toBe(true)
  expect(stderr).not.toMatch(/^\s+at /m)
  expect(stderr).not.toMatch(/delete/i)
  const next = await cliHere(['sync', '--local', dir, '--json'])
  expect([next.code, JSON.parse(next.stdout).status]).toEqual([0, 'complete'])
}, 120_000)
