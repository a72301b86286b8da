import type { IncomingHttpHeaders } from 'node:http'

/** A request to AWS as it came, its body whole. */
export type AwsRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer }

/** A right that a request takes. `partitions`: the partition keys of the items that it names, where it names them. */
export type Right = { action: string; resource: string; partitions: string[] }

type Input = { [member: string]: unknown }

const account = 'us-east-1:123456789012'

/** Who signed a request, for which service: the credential of its signature names both. */
export function signerOf({ authorization = '' }: IncomingHttpHeaders): { signer: string; service: string } {
  const [, signer, service] = /Credential=([^/]+)\/\d+\/[^/]+\/([^/]+)\//.exec(authorization) ?? []
  if (!signer || !service) throw new Error(`a request to AWS is not signed: ${authorization || 'no authorization'}`)
  return { signer, service }
}

/** What a request to a service that speaks JSON asks for. */
export function askedOf({ headers, body }: AwsRequest): { action: string; input: Input } {
  const action = String(headers['x-amz-target']).split('.').at(-1) ?? ''
  return { action, input: JSON.parse(body.toString()) as Input }
}

/**
 * The rights that a request takes, as AWS documents them. What a service does with a key in the caller's name is no
 * request, and not among them. @throws Error for a request of which this is not known.
 */
export function rightsFor(request: AwsRequest): Right[] {
  const { service } = signerOf(request.headers)
  if (service === 's3') return objectRights(request)
  const rights = jsonRights[service]
  if (!rights) throw new Error(`which rights does a request to ${service} take? Say so in required-rights.ts`)
  const { action, input } = askedOf(request)
  return rights(action, input)
}

/** The right without which S3 answers "forbidden" for an object that is not there. */
export function rightToMiss({ resource }: Right): Right {
  return { action: 's3:ListBucket', resource: resource.split('/')[0]!, partitions: [] }
}

function right(action: string, resource: string, partitions: string[] = []): Right {
  return { action, resource, partitions }
}

const jsonRights: Record<string, (action: string, input: Input) => Right[]> = {
  dynamodb: tableRights,
  sqs: (action, { QueueUrl }) => {
    const name = String(QueueUrl).split('/').at(-1)
    return [right(`sqs:${action.replace(/Batch$/, '')}`, `arn:aws:sqs:${account}:${name}`)]
  },
  // Secrets Manager adds a hyphen and six characters to the name.
  secretsmanager: (action, { SecretId }) => [
    right(`secretsmanager:${action}`, `arn:aws:secretsmanager:${account}:secret:${SecretId}-a1B2c3`),
  ],
  kms: (action, { KeyId }) => [right(`kms:${action}`, String(KeyId))],
  glue: (action, { DatabaseName, TableName, Name, TableInput }) => {
    const table = TableName ?? Name ?? (TableInput as Input).Name
    const resources = ['catalog', `database/${DatabaseName}`, `table/${DatabaseName}/${table}`]
    return resources.map((resource) => right(`glue:${action}`, `arn:aws:glue:${account}:${resource}`))
  },
  events: (action, { Entries }) =>
    (Entries as { EventBusName: string }[]).map(({ EventBusName }) =>
      right(`events:${action}`, `arn:aws:events:${account}:event-bus/${EventBusName}`),
    ),
}

type Item = { pk?: { S: string } }

function tableRights(action: string, { TableName, RequestItems, Key, Item }: Input): Right[] {
  const names = RequestItems ? Object.keys(RequestItems) : [String(TableName)]
  const items = [Key, Item].filter((item) => item !== undefined) as Item[]
  const partitions = items.flatMap(({ pk }) => pk?.S ?? [])
  return names.map((name) => right(`dynamodb:${action}`, `arn:aws:dynamodb:${account}:table/${name}`, partitions))
}

function objectRights({ method, url, headers, body }: AwsRequest): Right[] {
  const { pathname, searchParams } = new URL(url, 'http://s3')
  const [bucket = '', ...names] = pathname.slice(1).split('/').map(decodeURIComponent)
  const resource = `arn:aws:s3:::${bucket}`
  const key = names.join('/')
  if (key === '') return bucketRights(`${method} ${url}`, { resource, searchParams, body })
  const object = `${resource}/${key}`
  if (method === 'GET' || method === 'HEAD') return [right('s3:GetObject', object)]
  if (method === 'DELETE') {
    return [right(searchParams.has('uploadId') ? 's3:AbortMultipartUpload' : 's3:DeleteObject', object)]
  }
  // All that is left writes; an upload in parts is PutObject in each of its requests.
  const copied = headers['x-amz-copy-source']
  // Tags are copied unless they are replaced.
  const tags = copied && headers['x-amz-tagging-directive'] !== 'REPLACE'
  const source = `arn:aws:s3:::${decodeURIComponent(String(copied)).replace(/^\//, '')}`
  return [
    right('s3:PutObject', object),
    ...(copied ? [right('s3:GetObject', source)] : []),
    ...(tags ? [right('s3:GetObjectTagging', source)] : []),
    ...(tags || headers['x-amz-tagging'] ? [right('s3:PutObjectTagging', object)] : []),
  ]
}

type OfBucket = { resource: string; searchParams: URLSearchParams; body: Buffer }

function bucketRights(request: string, { resource, searchParams, body }: OfBucket): Right[] {
  if (searchParams.has('list-type')) return [right('s3:ListBucket', resource)]
  if (searchParams.has('delete')) {
    const keys = [...body.toString().matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key]) => key)
    return keys.map((key) => right('s3:DeleteObject', `${resource}/${key}`))
  }
  throw new Error(`which rights does ${request} take of S3? Say so in required-rights.ts`)
}
