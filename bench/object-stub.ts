import { createHash } from 'node:crypto'

/** A request to S3: its method, its address, its headers, and the whole body. */
export type ObjectRequest = { method: string; url: URL; headers: Record<string, unknown>; body: Buffer }

/** What S3 answers. */
export type ObjectAnswer = { status: number; headers?: Record<string, string>; body?: string | Buffer }

/** Answers the calls of S3 that the worker sends, from memory. It keeps what was written, since publish reads it again. */
export function createObjectStub(): (request: ObjectRequest) => ObjectAnswer {
  const objects = new Map<string, Buffer>()
  const uploads = new Map<string, Map<number, Buffer>>()
  return (request) => {
    const { method, url } = request
    const { searchParams } = url
    const uploadId = searchParams.get('uploadId')
    if (method === 'POST' && searchParams.has('uploads')) return begin(uploads)
    if (uploadId !== null) return ofUpload(request, { uploadId, uploads, objects })
    if (method === 'POST' && searchParams.has('delete')) return removeSome(request, objects)
    if (method === 'GET' && searchParams.has('list-type')) return list(url, objects)
    return ofObject(request, objects)
  }
}

type Objects = Map<string, Buffer>
type Uploads = Map<string, Map<number, Buffer>>

function ofObject({ method, url, headers, body }: ObjectRequest, objects: Objects): ObjectAnswer {
  const key = decodeURIComponent(url.pathname)
  const found = objects.get(key)
  if (method === 'PUT') {
    const source = headers['x-amz-copy-source']
    if (source) return copy(`/${decodeURIComponent(String(source))}`, key, objects)
    if (headers['if-none-match'] === '*' && found) return failure(412, 'PreconditionFailed')
    if (headers['if-match'] && (!found || headers['if-match'] !== etag(found)))
      return failure(412, 'PreconditionFailed')
    objects.set(key, body)
    return { status: 200, headers: { etag: etag(body) } }
  }
  if (method === 'DELETE') {
    objects.delete(key)
    return { status: 204 }
  }
  if (!found) return failure(404, method === 'HEAD' ? 'NotFound' : 'NoSuchKey')
  const range = /^bytes=(\d+)-(\d*)$/.exec(String(headers.range ?? ''))
  if (!range) return { status: 200, headers: { etag: etag(found) }, body: found }
  const [from, to] = [Number(range[1]), range[2] ? Number(range[2]) + 1 : found.length]
  const bounds = { 'content-range': `bytes ${from}-${Math.min(to, found.length) - 1}/${found.length}` }
  return { status: 206, headers: { etag: etag(found), ...bounds }, body: found.subarray(from, to) }
}

function copy(from: string, to: string, objects: Objects): ObjectAnswer {
  const found = objects.get(from)
  if (!found) return failure(404, 'NoSuchKey')
  objects.set(to, found)
  return { status: 200, body: xml('CopyObjectResult', `<ETag>${escaped(etag(found))}</ETag>`) }
}

function begin(uploads: Uploads): ObjectAnswer {
  const id = `upload-${uploads.size + 1}`
  uploads.set(id, new Map())
  const body = xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`)
  return { status: 200, body }
}

type OfUpload = { uploadId: string; uploads: Uploads; objects: Objects }

function ofUpload({ method, url, body }: ObjectRequest, { uploadId, uploads, objects }: OfUpload): ObjectAnswer {
  const parts = uploads.get(uploadId)
  if (!parts) return failure(404, 'NoSuchUpload')
  if (method === 'PUT') {
    parts.set(Number(url.searchParams.get('partNumber')), body)
    return { status: 200, headers: { etag: etag(body) } }
  }
  uploads.delete(uploadId)
  if (method === 'DELETE') return { status: 204 }
  const whole = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part)
  objects.set(decodeURIComponent(url.pathname), Buffer.concat(whole))
  return { status: 200, body: xml('CompleteMultipartUploadResult', '<ETag>"whole"</ETag>') }
}

function removeSome({ url, body }: ObjectRequest, objects: Objects): ObjectAnswer {
  for (const [, key = ''] of body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)) {
    objects.delete(`${decodeURIComponent(url.pathname).replace(/\/$/, '')}/${unescaped(key)}`)
  }
  return { status: 200, body: xml('DeleteResult', '') }
}

function list(url: URL, objects: Objects): ObjectAnswer {
  const bucket = `${decodeURIComponent(url.pathname).replace(/\/$/, '')}/`
  const prefix = bucket + (url.searchParams.get('prefix') ?? '')
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort()
  const contents = keys.map((key) => `<Contents><Key>${escaped(key.slice(bucket.length))}</Key></Contents>`)
  return { status: 200, body: xml('ListBucketResult', `<IsTruncated>false</IsTruncated>${contents.join('')}`) }
}

function etag(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}

function failure(status: number, code: string): ObjectAnswer {
  return { status, body: xml('Error', `<Code>${code}</Code><Message>${code}</Message>`) }
}

function xml(name: string, inside: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><${name}>${inside}</${name}>`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
