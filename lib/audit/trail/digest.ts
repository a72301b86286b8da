import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { chain } from './chain.ts'
import { linkFields } from './entry.ts'
import { Mark, type Marks } from './head.ts'
import type { Signer } from './ports.ts'
import { keyOf, unseal } from './sealed.ts'
import type { Batch, Trail } from './trail.ts'

/** A signed statement of how far entries and findings reach. Its signature lies beside it, over its stored bytes. */
export const Digest = z.object({
  ...linkFields,
  head: z.object({ entries: Mark, findings: Mark }),
  keyId: z.string().describe('SHA-256 of the public key in DER form, hex; the key is audit/keys/<keyId>.pem.'),
  writtenAt: z.string().describe('ISO 8601, UTC.'),
  nextDueAt: z.string().nullable().describe('When the next digest is there at the latest; null: nothing is promised.'),
})
export type Digest = z.infer<typeof Digest>

/** Where the signature over a digest's bytes lies. */
export function signatureKeyOf(sequence: number): string {
  return keyOf('digests', sequence).replace(/json$/, 'sig')
}

/** Where public keys lie. */
export const keysPrefix = 'audit/keys/'

/** Where a public key lies. */
export function publicKeyKeyOf(keyId: string): string {
  return `${keysPrefix}${keyId}.pem`
}

/** Writes digests. Safe to run at the same time as others. */
export type Digester = {
  /** Writes a digest, also when nothing changed: silence is evidence, too. */
  write(signal: AbortSignal): Promise<void>
  /** Writes one only if the newest does not cover everything or is older than `everyMs`; whether it did. */
  writeIfDue(signal: AbortSignal): Promise<boolean>
}

type Deps = {
  trail: Trail
  signer: Signer
  clock: Clock
  /** How old the newest digest may get. */
  everyMs: number
  /** Until when after a digest the next is promised, or null where the worker runs only now and then. */
  promisedMs: number | null
}

/** A digester over a trail. */
export function createDigester(deps: Deps): Digester {
  const { trail, clock } = deps
  return {
    write: async (signal) => {
      await trail.append((marks) => digestBatch(marks, deps), signal)
    },
    writeIfDue: (signal) =>
      trail.append(async (marks) => {
        const last = await readDigest(trail, marks.digests.sequence)
        const fresh = last !== null && Date.parse(last.writtenAt) + deps.everyMs > clock.now()
        return fresh && covers(last, marks) ? null : digestBatch(marks, deps)
      }, signal),
  }
}

function covers({ head }: Digest, { entries, findings }: Marks): boolean {
  return head.entries.hash === entries.hash && head.findings.hash === findings.hash
}

async function readDigest(trail: Trail, sequence: number): Promise<Digest | null> {
  const bytes = sequence > 0 ? await trail.read('digests', sequence) : null
  return Digest.nullable().parse((bytes && unseal(bytes)?.value) ?? null)
}

async function digestBatch(marks: Marks, { signer, clock, promisedMs }: Deps): Promise<Batch> {
  const now = clock.now()
  const keyId = await signer.keyId()
  const draft = {
    head: { entries: marks.entries, findings: marks.findings },
    keyId,
    writtenAt: new Date(now).toISOString(),
    nextDueAt: promisedMs === null ? null : new Date(now + promisedMs).toISOString(),
  }
  const { writes, mark } = chain('digests', marks.digests, [draft])
  const signed = await Promise.all(
    writes.map(async ({ bytes }) => ({ key: signatureKeyOf(mark.sequence), bytes: await signer.sign(bytes) })),
  )
  const publicKey = { key: publicKeyKeyOf(keyId), bytes: Buffer.from(await signer.publicKeyPem()) }
  return { writes: [publicKey, ...signed, ...writes], next: { ...marks, digests: mark } }
}
