import { createHash } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DynamoDBClient, type DynamoDBClientConfig, PutItemCommand, paginateScan } from '@aws-sdk/client-dynamodb'
import { GetObjectCommand, PutObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3'
import { PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { localRedactionKey } from '../../lib/local/built-in-platform.ts'
import { startEmulators } from '../../lib/local/emulators/emulators.ts'
import { limitsTable } from '../../lib/stores/ledger-items.ts'
import { auditBucket, inboxBucket, lakeBucket, recordsTable, stateTable } from '../../lib/stores/resources.ts'
import { readLeft } from '../support/worlds/left-behind.ts'
import { type Account, authorizationFor, called } from './emulator.ts'

/** The templates of an installation as version 0.1.0 synthesized them; its functions are there in name alone. */
type Stacks = Record<'stateful' | 'stateless', object>

/** Makes the stacks of version 0.1.0 from those of today: what `cdk deploy` reads, with the older templates in it. */
export function olderStacks(outdir: string, { today, installation }: { today: string; installation: string }): void {
  cpSync(today, outdir, { recursive: true })
  for (const [kind, template] of Object.entries(readLeft<Stacks>('0.1.0-stacks'))) {
    const stack = `${installation}-${kind}`
    const text = JSON.stringify(template).replaceAll('acme', installation)
    writeFileSync(join(outdir, `${stack}.template.json`), text)
    uploadAnew(outdir, stack, text)
  }
}

type Assets = { files: Record<string, { source: { path: string } }> }

/** A template is uploaded under a hash, and only once; the code of today's functions is none of its assets. */
function uploadAnew(outdir: string, stack: string, text: string): void {
  const assetsFile = join(outdir, `${stack}.assets.json`)
  const assets = JSON.parse(readFileSync(assetsFile, 'utf8')) as Assets
  const found = Object.entries(assets.files).find(([, { source }]) => source.path === `${stack}.template.json`)
  if (!found) throw new Error(`${assetsFile} does not tell of the template`)
  const [of, asset] = found
  const hash = createHash('sha256').update(text).digest('hex')
  writeFileSync(assetsFile, JSON.stringify({ ...assets, files: { [of]: asset } }).replaceAll(of, hash))
  const manifest = join(outdir, 'manifest.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll(of, hash))
}

/** The resources of a deployed stack: logical id to physical id. */
export async function resourcesOf({ endpoint }: Account, stack: string): Promise<Map<string, string>> {
  const body = new URLSearchParams({ Action: 'DescribeStackResources', StackName: stack, Version: '2010-05-15' })
  const headers = { authorization: authorizationFor('cloudformation') }
  const response = await fetch(endpoint, { method: 'POST', headers, body })
  const text = await response.text()
  const found = [...text.matchAll(/<member>(.*?)<\/member>/gs)].map(([, member = '']) => {
    const of = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`, 's').exec(member)?.[1] ?? ''
    return [of('LogicalResourceId'), of('PhysicalResourceId')] as const
  })
  if (found.length === 0) throw new Error(`the emulator tells of no resource of ${stack}: ${text.slice(0, 300)}`)
  return new Map(found)
}

/** Puts what a folder of `--local` holds into the stores of an installation, which knows the same secrets then. */
export async function moveIn(folder: string, { endpoint }: Account, installation: string): Promise<void> {
  const emulators = await startEmulators({ dir: folder })
  const { endpointUrl, credentials, environment } = emulators
  const options = { endpoint, region: called.region, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
  const [from, to] = [storesAt({ endpoint: endpointUrl, region: called.region, credentials }), storesAt(options)]
  const secrets = new SecretsManagerClient(options)
  try {
    for (const { name, variable } of [stateTable, recordsTable, limitsTable]) {
      const pages = paginateScan({ client: from.dynamodb }, { TableName: environment[variable] })
      for await (const { Items = [] } of pages) {
        const TableName = `${installation}-${name}`
        for (const Item of Items) await to.dynamodb.send(new PutItemCommand({ TableName, Item }))
      }
    }
    for (const { name, variable } of [lakeBucket, auditBucket, inboxBucket]) {
      const source = environment[variable]
      for await (const { Contents = [] } of paginateListObjectsV2({ client: from.s3 }, { Bucket: source })) {
        const Bucket = `${installation}-${name}-${called.id}-${called.region}`
        for (const { Key } of Contents) {
          const { Body } = await from.s3.send(new GetObjectCommand({ Bucket: source, Key }))
          await to.s3.send(new PutObjectCommand({ Bucket, Key, Body: await Body!.transformToByteArray() }))
        }
      }
    }
    const SecretString = localRedactionKey(folder)
    await secrets.send(new PutSecretValueCommand({ SecretId: `${installation}/redaction-key`, SecretString }))
  } finally {
    for (const client of [from.dynamodb, from.s3, to.dynamodb, to.s3, secrets]) client.destroy()
    await emulators.close()
  }
}

function storesAt(options: Pick<DynamoDBClientConfig, 'region' | 'credentials'> & { endpoint: string }) {
  return { dynamodb: new DynamoDBClient(options), s3: new S3Client({ ...options, forcePathStyle: true }) }
}
