import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HeadObjectCommand, ListBucketsCommand } from '@aws-sdk/client-s3'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulators, startEmulators } from '../../../lib/local/emulators/emulators.ts'
import { keyOf, pathOf } from '../../../lib/local/emulators/object-paths.ts'
import { createObjectStore } from '../../../lib/stores/objects.ts'
import { localClients } from '../../stores/clients.ts'

const Bucket = 'platform-sync-lake'
let dir: string
let emulators: Emulators | undefined

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-sync-'))
})
afterEach(async () => {
  await stop()
  rmSync(dir, { recursive: true, force: true })
})

async function start() {
  emulators = await startEmulators({ dir })
  const { s3 } = localClients(emulators.endpointUrl)
  return { s3, lake: createObjectStore({ s3, bucket: Bucket }) }
}
async function stop() {
  await emulators?.close()
  emulators = undefined
}
/** The files of the lake, by their paths. */
function files(): string[] {
  return readdirSync(join(dir, 's3', Bucket), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(dir, 's3', Bucket).length + 1))
    .sort()
}
function write(path: string, content: string) {
  const file = join(dir, 's3', path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}
const key = 'changes/sessions/dt=2026-01-02/run=r1/00000-1.parquet'

describe('the objects of the S3 emulator', () => {
  it('are plain files under their bucket and key, and nothing else is there', async () => {
    const { lake } = await start()
    await lake.put(key, Buffer.from('rows'))
    await lake.put('empty', new Uint8Array())
    const large = Buffer.alloc(9 * 1024 * 1024, 'in parts')
    await lake.put('large', large)
    expect(files()).toEqual([key, 'empty', 'large'])
    expect(readFileSync(join(dir, 's3', Bucket, key), 'utf8')).toBe('rows')
    expect(readFileSync(join(dir, 's3', Bucket, 'large')).equals(large)).toBe(true)
    expect(readdirSync(join(dir, 's3', '.incoming'))).toEqual([])
  })

  it('are the same after a restart', async () => {
    const first = await start()
    await first.lake.put(key, Buffer.from('rows'), { contentType: 'application/vnd.apache.parquet' })
    await first.lake.put('empty', new Uint8Array())
    const Key = key
    const before = await first.s3.send(new HeadObjectCommand({ Bucket, Key }))
    await stop()
    const { s3, lake } = await start()
    expect(await lake.list('')).toEqual([key, 'empty'])
    expect(await lake.get('empty')).toHaveLength(0)
    expect(Buffer.from((await lake.get(key))!).toString()).toBe('rows')
    const { ContentType, ContentLength, ETag } = before
    const after = await s3.send(new HeadObjectCommand({ Bucket, Key }))
    expect(after).toMatchObject({ ContentType, ContentLength, ETag })
    expect(after.ETag).toBe(`"${createHash('md5').update('rows').digest('hex')}"`)
    expect((await s3.send(new ListBucketsCommand({}))).Buckets?.map(({ Name }) => Name)).toContain(Bucket)
  })

  it('leave no file and no empty folder when they are removed', async () => {
    const { lake } = await start()
    await lake.put(key, Buffer.from('rows'))
    await lake.put('changes/other', Buffer.from('rows'))
    await lake.remove([key, 'never/was', 'changes'])
    expect(readdirSync(join(dir, 's3', Bucket, 'changes'))).toEqual(['other'])
    await lake.put('changes/sessions', Buffer.from('a file where a folder was'))
    expect(files()).toEqual(['changes/other', 'changes/sessions'])
  })

  it('are refused, with the reason, when a file system has no place for them', async () => {
    const { lake } = await start()
    await lake.put('a', Buffer.from('first'))
    await expect(lake.put('a/b', Buffer.from('second'))).rejects.toThrow(/a\/b can't be kept as a file/)
    await lake.put('c/d', Buffer.from('first'))
    await expect(lake.put('c', Buffer.from('second'))).rejects.toThrow(/c can't be kept as a file/)
    await expect(lake.put('x'.repeat(300), Buffer.from('long'))).rejects.toThrow(/too long/)
    expect(files()).toEqual(['a', 'c/d'])
    expect(await lake.list('')).toEqual(['a', 'c/d'])
  })

  it('are not what a killed process left half-written, nor hidden files, nor folders without content', async () => {
    write('.incoming/object', 'half')
    write(`${Bucket}/.DS_Store`, 'hidden')
    write(`${Bucket}/50%.csv`, 'no key has this path')
    mkdirSync(join(dir, 's3', Bucket, 'changes', 'sessions'), { recursive: true })
    const { lake } = await start()
    expect(await lake.list('')).toEqual([])
    await lake.put('changes', Buffer.from('nothing in the way'))
    expect(await lake.list('')).toEqual(['changes'])
    expect(readdirSync(join(dir, 's3', '.incoming'))).toEqual([])
  })

  it('have keys of any characters', async () => {
    const keys = ['%41', '.hidden', 'a b+c&d=e', 'a//b', 'slash/', 'time=12:30', 'ü/日本', '🙂', '*?<>|"'].sort()
    const { lake } = await start()
    for (const each of keys) await lake.put(each, Buffer.from(each))
    await stop()
    const again = (await start()).lake
    expect(await again.list('')).toEqual(keys)
    for (const each of keys) expect(Buffer.from((await again.get(each))!).toString()).toBe(each)
  })
})

describe('the path of an object', () => {
  it('stays inside its bucket and tells the key again, whatever the key is', () => {
    const part = fc.oneof(fc.constantFrom('', '.', '..', '%', '%2E', '...', '/'), fc.string({ unit: 'binary' }))
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const path = pathOf(parts.join('/'))
        expect(path.split('/').some((name) => name === '' || name.startsWith('.'))).toBe(false)
        expect(keyOf(path)).toBe(parts.join('/'))
      }),
    )
  })
})
