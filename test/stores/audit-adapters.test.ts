import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
import { mockClient } from 'aws-sdk-client-mock'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newHead } from '../../lib/audit/trail/head.ts'
import type { Signer } from '../../lib/audit/trail/ports.ts'
import { isSignedBy, keyIdOf, readPublicKey } from '../../lib/audit/trail/signature.ts'
import { verifyTrail } from '../../lib/audit/verify/verify.ts'
import { systemClock } from '../../lib/core/clock.ts'
import { type Emulators, startEmulators } from '../../lib/local/emulators/emulators.ts'
import { createDynamoHead } from '../../lib/stores/audit-head.ts'
import { callAws } from '../../lib/stores/aws-errors.ts'
import { type AwsClients, createAwsClients } from '../../lib/stores/clients.ts'
import { createFileSigner } from '../../lib/stores/file-signer.ts'
import { createKmsSigner } from '../../lib/stores/kms-signer.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { auditParts, memoryHead, revisions, scan, signal, stored } from '../audit/memory.ts'

const dir = mkdtempSync(join(tmpdir(), 'audit-adapters-'))
let emulators: Emulators
let clients: AwsClients

beforeAll(async () => {
  emulators = await startEmulators({ dir: join(dir, 'emulators') })
  clients = createAwsClients({
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
  return createDynamoHead({ dynamodb: clients.dynamodb, table: emulators.environment.STATE_TABLE as string, callAws })
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
    const pending = { next: newHead().marks, writes: { packed: Uint8Array.of(1, 2, 3) } }
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
    const report = await verifyTrail(adapters.store, { head: async () => (await adapters.head.read())!.state.marks })
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
  expect(isSignedBy(key, bytes, await signer.sign(bytes))).toBe(true)
  expect(isSignedBy(key, Buffer.from('y'), await signer.sign(bytes))).toBe(false)
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

describe('a signer over KMS', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const kms = mockClient(new KMSClient({ region: 'us-east-1' }))
  const signer = createKmsSigner({ kms: kms as unknown as KMSClient, keyArn: 'alias/audit', callAws })

  it('asks once for the public key, again after a failure, and reports what is not there', async () => {
    kms
      .on(GetPublicKeyCommand)
      .resolvesOnce({})
      .resolves({
        PublicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
      })
    await expect(signer.keyId()).rejects.toMatchObject({ code: 'configuration' })
    expect(await signer.keyId()).toBe(keyIdOf(createPublicKey(privateKey)))
    await signer.publicKeyPem()
    expect(kms.commandCalls(GetPublicKeyCommand)).toHaveLength(2)
  })

  it('sends the digest of what is to be signed, which may be longer than KMS takes', async () => {
    kms.on(SignCommand).resolves({ Signature: sign('sha256', Buffer.from('x'), privateKey) })
    await signer.sign(Buffer.from('x'.repeat(10_000)))
    const [call] = kms.commandCalls(SignCommand)
    expect(call?.args[0].input).toMatchObject({
      KeyId: 'alias/audit',
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    })
    expect(call?.args[0].input.Message).toHaveLength(32)
  })
})
