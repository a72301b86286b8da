import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { createDigester } from '../../lib/audit/trail/digest.ts'
import type { Finding } from '../../lib/audit/trail/finding.ts'
import { createIndexCache } from '../../lib/audit/trail/index-cache.ts'
import type { HeadStore, Signer, VersionedHead, WorkStore } from '../../lib/audit/trail/ports.ts'
import { createRecorder, type SeenRevision } from '../../lib/audit/trail/recorder.ts'
import { type ChainName, sequenceOf, unseal } from '../../lib/audit/trail/sealed.ts'
import { withLowS } from '../../lib/audit/trail/signature.ts'
import { createTrail } from '../../lib/audit/trail/trail.ts'
import type { Clock } from '../../lib/core/clock.ts'
import { contentHash } from '../../lib/core/hash.ts'
import type { Json } from '../../lib/core/json.ts'

/** Objects in memory. `tamper` is the map itself. */
export function memoryObjects(
  objects = new Map<string, Uint8Array>(),
): WorkStore & { objects: Map<string, Uint8Array> } {
  return {
    objects,
    get: async (key) => objects.get(key) ?? null,
    list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    put: async (key, bytes) => {
      objects.set(key, Uint8Array.from(bytes))
    },
    remove: async (keys) => {
      for (const key of keys) objects.delete(key)
    },
  }
}

/** A head in memory, copied on each read and write. */
export function memoryHead(): HeadStore & { current: VersionedHead | null } {
  return {
    current: null,
    async read() {
      await undefined
      return structuredClone(this.current)
    },
    async write(state, version) {
      await undefined
      if ((this.current?.version ?? 0) !== version) return false
      this.current = structuredClone({ version: version + 1, state })
      return true
    },
  }
}

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicKey = createPublicKey(privateKey)

/** A signer with a key of its own. */
export const testSigner: Signer = {
  keyId: async () =>
    createHash('sha256')
      .update(publicKey.export({ type: 'spki', format: 'der' }))
      .digest('hex'),
  publicKeyPem: async () => publicKey.export({ type: 'spki', format: 'pem' }) as string,
  sign: async (bytes) => withLowS(sign('sha256', bytes, privateKey)),
}

/** A signature in the other form that proves the same: anyone can make it, without the key. */
export function otherForm(signature: Uint8Array): Buffer {
  const integerAt = (at: number) => {
    const bytes = signature.subarray(at + 2, at + 2 + (signature[at + 1] as number))
    return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  }
  const [r, s] = [integerAt(2), integerAt(4 + (signature[3] as number))]
  const integers = [r, order - s].flatMap((value) => {
    const bytes = Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
    const first = bytes.findIndex((byte) => byte !== 0)
    const digits = [...((bytes[first] as number) > 127 ? [0] : []), ...bytes.subarray(first)]
    return [2, digits.length, ...digits]
  })
  return Buffer.from([0x30, integers.length, ...integers])
}
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** A clock that stands at a time until it is moved. Sleeping gives way to others and takes no time. */
export function testClock(start = Date.UTC(2026, 0, 5)): Clock & { at: number } {
  return {
    at: start,
    now() {
      return this.at
    },
    sleep: async () => new Promise((resolve) => setImmediate(resolve)),
  }
}

/** A trail and all that writes to it, over the given stores. A new one is a new process. */
export function auditParts({
  store = memoryObjects(),
  work = memoryObjects(),
  head = memoryHead() as HeadStore,
  clock = testClock(),
  redactionKey = '0123456789abcdef',
  redact = ((revision) => revision) as (revision: Json) => Json,
  promisedMs = (26 * 3_600_000) as number | null,
} = {}) {
  const trail = createTrail({ store, work, head, clock, random: Math.random })
  const index = createIndexCache({ trail, work })
  const recorder = createRecorder({ trail, index, clock, redactionKey, redact })
  const digester = createDigester({ trail, signer: testSigner, clock, everyMs: 24 * 3_600_000, promisedMs })
  return { store, work, head, clock, trail, index, recorder, digester }
}

/** A signal that never aborts. */
export const { signal } = new AbortController()

/** The scan of most tests. */
export const scan = { runId: 'run-1', scanId: 'scan-1' }

/** A revision as the engine hands it over. */
export function seen(record: { revision: number; [key: string]: Json }): SeenRevision {
  return {
    hash: contentHash(record),
    record,
  }
}

/** Revisions with small settings, numbered from `first` to `last`. */
export function revisions(first: number, last: number): SeenRevision[] {
  return Array.from({ length: last - first + 1 }, (_, at) => seen(revision(first + at)))
}

/** A revision with small settings. */
export function revision(number: number, settings: { [key: string]: Json } = {}) {
  return {
    revision: number,
    settings: { sessionRetentionDays: number, commandDenylist: ['rm -rf /'], ...settings },
    user: { id: `u_${number % 3}`, email: `user${number % 3}@x.example`, name: 'Ana' },
    updatedAt: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
  }
}

/** The stored values of a chain, in their order. */
export function stored(objects: Map<string, Uint8Array>, series: ChainName): { [key: string]: unknown }[] {
  return [...objects.keys()]
    .filter((key) => sequenceOf(series, key) !== null)
    .sort()
    .map((key) => unseal(objects.get(key) as Uint8Array)?.value as { [key: string]: unknown })
}

/** The findings stored. */
export function findingsIn(objects: Map<string, Uint8Array>) {
  return stored(objects, 'findings') as unknown as Finding[]
}
