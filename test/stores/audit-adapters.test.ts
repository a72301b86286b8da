import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newHead } from '../../lib/audit/trail/head.ts'
import type { Signer } from '../../lib/audit/trail/ports.ts'
import { keyIdOf, readPublicKey, signatureFormOf } from '../../lib/audit/trail/signature.ts'
import { verifyTrail } from '../../lib/audit/verify/verify.ts'
import { systemClock } from '../../lib/core/clock.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { createDynamoHead } from '../../lib/stores/audit-head.ts'
import { createFileSigner } from '../../lib/stores/file-signer.ts'
import { createKmsSigner } from '../../lib/stores/kms-signer.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { createStorageClients, type StorageClients } from '../../lib/stores/storage.ts'
import { auditParts, memoryHead, revisions, scan, signal, stored } from '../audit/memory.ts'
import { createSigningService } from '../infra/signing-service.ts'

const dir = mkdtempSync(join(tmpdir(), 'audit-adapters-'))
let emulators: Emulators
let clients: StorageClients

beforeAll(async () => {
  emulators = await startEmulators({ dir: join(dir, 'emulators') })
  clients = createStorageClients({
    region: 'us-east-1',
    endpointUrl: emulators.endpointUrl,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
})
afterAll(async () => {
  clients.destroy()
  await emulators.close()
  rmSync(dir, { recursive: true })
})

function dynamoHead() {
  return createDynamoHead({ dynamodb: clients.dynamodb, table: emulators.environment.STATE_TABLE as string })
}
function bucket(variable: string) {
  return createObjectStore({ s3: clients.s3, bucket: emulators.environment[variable] as string })
}

// What the memory of the other tests promises must hold for DynamoDB, too.
describe.each([
  ['memory', () => memoryHead()],
  ['DynamoDB', () => dynamoHead()],
])('an audit head in %s', (_, create) => {
  it('takes a write for the version that is there, and no other', async () => {
    const head = create()
    expect(await head.read()).toBe(null)
    const pending = { next: newHead().heads, writes: { packed: Uint8Array.of(1, 2, 3) } }
    expect(await head.write({ ...newHead(), pending }, 1)).toBe(false)
    expect(await head.write({ ...newHead(), pending }, 0)).toBe(true)
    expect(await head.write(newHead(), 0)).toBe(false)
    expect(await head.read()).toEqual({ version: 1, state: { ...newHead(), pending } })
    const next = {
      ...newHead(),
      pending: { ...pending, writes: { staged: 'key' } },
      reported: { entries: 3, findings: 1 },
    }
    expect(await head.write(next, 1)).toBe(true)
    expect(await head.write(next, 1)).toBe(false)
    expect(await head.read()).toEqual({ version: 2, state: next })
    expect(await head.write(newHead(), 2)).toBe(true)
  })
})

describe('a trail in DynamoDB and S3', () => {
  it('is one linear chain after 20 recorders at the same time, and verifies from its objects (AUD-03)', async () => {
    const adapters = { store: bucket('AUDIT_BUCKET'), work: bucket('LAKE_BUCKET'), head: dynamoHead() }
    const parts = () => auditParts({ ...adapters, clock: systemClock } as never)
    await Promise.all(
      Array.from({ length: 20 }, (_, at) => parts().recorder.record(revisions(at + 1, at + 2), scan, signal)),
    )
    await parts().digester.writeIfDue(signal)
    const report = await verifyTrail(adapters.store, { head: async () => (await adapters.head.read())!.state.heads })
    expect(report).toMatchObject({ faults: [], entries: { checked: 21 }, unsignedEntries: 0 })
    const copy = new Map<string, Uint8Array>()
    for (const key of await adapters.store.list('audit/')) copy.set(key, (await adapters.store.get(key))!)
    expect(new Set(stored(copy, 'entries').map(({ revision }) => revision)).size).toBe(21)
  })
})

async function signs(signer: Signer) {
  const bytes = Buffer.from('x'.repeat(5_000))
  const key = readPublicKey(await signer.publicKeyPem())!
  expect(keyIdOf(key)).toBe(await signer.keyId())
  // Half of all signatures are in the other form as they come.
  for (let at = 0; at < 16; at++) expect(signatureFormOf(key, bytes, await signer.sign(bytes))).toBe('low-s')
  expect(signatureFormOf(key, Buffer.from('y'), await signer.sign(bytes))).toBe(null)
}

describe('a signer over a key file', () => {
  it('makes a key for its owner alone, and uses the same one from then on', async () => {
    const path = join(dir, 'keys', 'audit.pem')
    const signer = createFileSigner(path)
    await signs(signer)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await createFileSigner(path).keyId()).toBe(await signer.keyId())
  })

  it('refuses a file that holds no key on P-256, and leaves it as it is', () => {
    const path = join(dir, 'other.pem')
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' })
    for (const text of ['junk', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string]) {
      writeFileSync(path, text)
      expect(() => createFileSigner(path)).toThrow(/other\.pem/)
    }
  })
})

type Asked = { action: string; input: Record<string, unknown> }

/** KMS at an address on this machine, told to the SDK as any other address is. `answers` come before its own. */
async function startKms(): Promise<{ asked: Asked[]; answers: object[]; close(): void }> {
  const service = createSigningService()
  const [asked, answers]: [Asked[], object[]] = [[], []]
  const server = createServer(async (request, response) => {
    const input = JSON.parse(await text(request)) as Asked['input']
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? ''
    asked.push({ action, input })
    const answer = answers.shift() ?? (action === 'Sign' ? service.Sign(input) : service.GetPublicKey())
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  vi.stubEnv('AWS_ENDPOINT_URL_KMS', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local')
  return {
    asked,
    answers,
    close: () => {
      vi.unstubAllEnvs()
      server.closeAllConnections()
      server.close()
    },
  }
}

describe('a signer over KMS', () => {
  let kms: Awaited<ReturnType<typeof startKms>>
  let signer: Signer
  beforeEach(async () => {
    kms = await startKms()
    signer = createKmsSigner({ target: { region: 'us-east-1' }, keyArn: 'alias/audit' })
  })
  afterEach(() => kms.close())

  it('asks once for the public key, again after a failure, and reports what is not there', async () => {
    kms.answers.push({})
    await expect(signer.keyId()).rejects.toMatchObject({ code: 'configuration' })
    expect(await signer.keyId()).toBe(keyIdOf(readPublicKey(await signer.publicKeyPem())!))
    const key = { action: 'GetPublicKey', input: { KeyId: 'alias/audit' } }
    expect(kms.asked).toEqual([key, key])
  })

  it('sends the digest of what is to be signed, which may be longer than KMS takes', async () => {
    await signs(signer)
    const [call] = kms.asked.filter(({ action }) => action === 'Sign')
    expect(call?.input).toMatchObject({
      KeyId: 'alias/audit',
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    })
    expect(Buffer.from(call?.input.Message as string, 'base64')).toHaveLength(32)
  })

  it('says which key it could not use', async () => {
    kms.answers.push({}, {})
    await expect(signer.sign(Buffer.from('x'))).rejects.toThrow('KMS returned no signature of alias/audit')
    await expect(signer.keyId()).rejects.toThrow('KMS returned no public key of alias/audit')
  })
})
