import { createHash } from 'node:crypto'
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join } from 'node:path'
import type { buildApp } from 'fauxqs'
import { diskError, diskFaultName } from '../../core/disk-fault.ts'
import { makeFolder } from '../../core/folders.ts'
import { keyOf, pathOf } from './object-paths.ts'

export type S3Store = NonNullable<NonNullable<Parameters<typeof buildApp>[0]>['stores']>['s3Store']
type Persistence = NonNullable<S3Store['persistence']>
type S3Object = ReturnType<S3Store['headObject']>
/** Makes the error that S3 answers a request with. */
type Refuse = (code: string, message: string) => Error

const contentTypes: Record<string, string> = {
  '.parquet': 'application/vnd.apache.parquet',
  '.json': 'application/json',
  '.gz': 'application/gzip',
  '.zst': 'application/zstd',
}

/** Where a file is until it is whole: no bucket's name begins with a dot, and people's globs leave it out. */
const incomingName = '.incoming'

/**
 * Keeps each object as one plain file, `<dir>/<bucket>/<key>`, for people to open with their own tools. A file appears
 * whole or not at all. What a file can't say (metadata, a content type that its name doesn't tell, uploads under way)
 * ends with the process.
 */
export function createObjectFiles(dir: string, refuse: Refuse): Persistence {
  const { write, move, remove, fileOf } = openFolder(dir, refuse)
  const emptyBucket = (bucket: string) => {
    rmSync(join(dir, bucket), { recursive: true, force: true })
    mkdirSync(join(dir, bucket))
  }
  const deleteBucket = (bucket: string) => rmSync(join(dir, bucket), { recursive: true, force: true })
  return {
    insertBucket: (bucket) => void makeFolder(join(dir, bucket)),
    deleteBucket,
    upsertObject: write,
    deleteObject: remove,
    deleteObjectsByBucket: emptyBucket,
    deleteAllObjects: () => bucketsIn(dir).forEach(emptyBucket),
    renameObject: (bucket, sourceKey, destKey) => move(fileOf(bucket, sourceKey), bucket, destKey),
    readBody: (bucket, key) => readFileSync(fileOf(bucket, key)),
    completeMultipartUpload: (_, bucket, object) => write(bucket, object),
    loadS3: (store) => {
      for (const bucket of bucketsIn(dir)) loadBucket(store, { dir, bucket })
    },
    purgeAll: () => bucketsIn(dir).forEach(deleteBucket),
    close: () => {},
    ...inMemoryAlone,
  }
}

function openFolder(dir: string, refuse: Refuse) {
  const incoming = join(dir, incomingName)
  rmSync(incoming, { recursive: true, force: true })
  makeFolder(incoming)
  const fileOf = (bucket: string, key: string) => join(dir, bucket, pathOf(key))
  const move = (from: string, bucket: string, key: string): void => {
    const to = fileOf(bucket, key)
    try {
      makeFolder(dirname(to))
      renameSync(from, to)
    } catch (error) {
      throw refusalOf(error, { key, folder: dir, refuse })
    }
  }
  const write = (bucket: string, { key, body }: S3Object): void => {
    const temporary = join(incoming, 'object')
    try {
      writeFileSync(temporary, body)
    } catch (error) {
      throw refusalOf(error, { key, folder: dir, refuse })
    }
    move(temporary, bucket, key)
  }
  const remove = (bucket: string, key: string): void => {
    try {
      rmSync(fileOf(bucket, key))
    } catch (error) {
      if (!isAbsence(error)) throw error
    }
    removeEmptyParents(fileOf(bucket, key), join(dir, bucket))
  }
  return { fileOf, move, write, remove }
}

function nothing() {}
/** The store itself holds these; a process that ends takes them along, as S3 allows for uploads that nobody completed. */
const inMemoryAlone = {
  insertMultipartUpload: nothing,
  upsertMultipartPart: nothing,
  deleteMultipartUpload: nothing,
  deleteAllMultipartUploads: nothing,
  saveBucketLifecycleConfiguration: nothing,
  deleteBucketLifecycleConfiguration: nothing,
} satisfies Partial<Persistence>

function bucketsIn(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
}

function loadBucket(store: S3Store, { dir, bucket }: { dir: string; bucket: string }): void {
  const folder = join(dir, bucket)
  // Someone else's, whom a look may change nothing.
  const isBorrowed = lstatSync(folder).isSymbolicLink()
  store.createBucket(bucket)
  store.setBucketCreationDate(bucket, statSync(folder).birthtime)
  const loadFolder = (path: string): void => {
    const entries = readdirSync(join(folder, path), { withFileTypes: true })
    for (const entry of entries) {
      const inner = path === '' ? entry.name : `${path}/${entry.name}`
      if (entry.isDirectory()) loadFolder(inner)
      const key = entry.isFile() ? keyOf(inner) : null
      if (key !== null) store.restoreObject(bucket, objectOf(join(folder, inner), key))
    }
    // A kill came between the removal of its last object and its own; it would stand in the way of an object.
    if (path !== '' && !isBorrowed && entries.every((entry) => entry.isDirectory())) removeIfEmpty(join(folder, path))
  }
  loadFolder('')
}

/** An object as its file tells it. Its hash waits until somebody asks: a lake can be large, and a start should be quick. */
function objectOf(file: string, key: string): S3Object {
  const { size, mtime } = statSync(file)
  let etag: string | undefined
  return {
    key,
    body: Buffer.alloc(0),
    contentLength: size,
    contentType: contentTypes[extname(key)] ?? 'application/octet-stream',
    lastModified: mtime,
    metadata: {},
    get etag() {
      etag ??= `"${createHash('md5').update(readFileSync(file)).digest('hex')}"`
      return etag
    },
  }
}

function removeEmptyParents(file: string, root: string): void {
  let folder = dirname(file)
  while (folder !== root && removeIfEmpty(folder)) folder = dirname(folder)
}

/** False when the folder has content. */
function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder)
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) return false
    if (!isAbsence(error)) throw error
  }
  return true
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

/** A folder in the place of a file, or the other way around, also means that there is no such object. */
function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ERR_FS_EISDIR', 'ENAMETOOLONG'].includes(codeOf(error))
}

type Refusing = { key: string; folder: string; refuse: Refuse }

/** What a file system can't hold although S3 could, or holds no more of. */
function refusalOf(error: unknown, { key, folder, refuse }: Refusing): unknown {
  const fault = diskError(error, dirname(folder))
  if (fault !== null) return refuse(diskFaultName, fault.message)
  const code = codeOf(error)
  if (code === 'ENAMETOOLONG') return refuse('KeyTooLongError', `${key} is too long for a file's name on this machine`)
  if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY'].includes(code)) return error
  const message = `${key} can't be kept as a file: an object and a folder on its way would have the same name`
  return refuse('InvalidRequest', message)
}
