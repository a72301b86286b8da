import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { type AppendPlan, extendChain } from './append-plan.ts'
import { linkFields } from './entry.ts'
import { ChainHead, type ChainHeads } from './head.ts'
import type { Signer } from './ports.ts'
import { keyOf, unseal } from './sealed.ts'
import { writtenForm } from './signature.ts'
import type { Trail } from './trail.ts'

/** A signed statement of how far entries and findings reach. Its signature lies beside it, over its stored bytes. */
export const Digest = z.object({
  ...linkFields,
  head: z.object({ entries: ChainHead, findings: ChainHead }),
  keyId: z.string().describe('SHA-256 of the public key in DER form, hex; the key is audit/keys/<keyId>.pem.'),
  writtenAt: z.string().describe('ISO 8601, UTC.'),
  nextDueAt: z.string().nullable().describe('When the next digest is there at the latest; null: nothing is promised.'),
  signatureForm: z.literal(writtenForm).optional().describe('The only form its signature may have; absent: either.'),
})
export type Digest = z.infer<typeof Digest>

/** The key of the signature over a digest's bytes. */
export function signatureKeyOf(sequence: number): string {
  return keyOf('digests', sequence).replace(/json$/, 'sig')
}

/** The prefix of the keys of public keys. */
export const keysPrefix = 'audit/keys/'

/** The key of a public key. */
export function publicKeyKeyOf(keyId: string): string {
  return `${keysPrefix}${keyId}.pem`
}

/** Writes digests. Safe to run at the same time as others. */
export type Digester = {
  /** Writes a digest, also when nothing changed: silence is evidence, too. */
  write(signal: AbortSignal): Promise<void>
  /** Writes one only if the newest does not cover everything or is older than `everyMs`; true if it did. */
  writeIfDue(signal: AbortSignal): Promise<boolean>
}

type Deps = {
  trail: Trail
  signer: Signer
  clock: Clock
  /** The age at which the newest digest counts as old. */
  everyMs: number
  /** The time in which the next digest is promised, or null where the worker runs only now and then. */
  promisedMs: number | null
}

/** A digester over a trail. */
export function createDigester(deps: Deps): Digester {
  const { trail, clock } = deps
  return {
    write: async (signal) => {
      await trail.append((heads) => planDigest(heads, deps), signal)
    },
    writeIfDue: (signal) =>
      trail.append(async (heads) => {
        const last = await readDigest(trail, heads.digests.sequence)
        const fresh = last !== null && Date.parse(last.writtenAt) + deps.everyMs > clock.now()
        return fresh && covers(last, heads) ? null : planDigest(heads, deps)
      }, signal),
  }
}

function covers({ head }: Digest, { entries, findings }: ChainHeads): boolean {
  return head.entries.hash === entries.hash && head.findings.hash === findings.hash
}

/** Reads a digest; null when it is missing or damaged. Says nothing of its signature. */
export async function readDigest(trail: Pick<Trail, 'read'>, sequence: number): Promise<Digest | null> {
  const bytes = sequence > 0 ? await trail.read('digests', sequence) : null
  return Digest.safeParse(bytes && unseal(bytes)?.value).data ?? null
}

async function planDigest(heads: ChainHeads, { signer, clock, promisedMs }: Deps): Promise<AppendPlan> {
  const now = clock.now()
  const keyId = await signer.keyId()
  const draft = {
    head: { entries: heads.entries, findings: heads.findings },
    keyId,
    writtenAt: new Date(now).toISOString(),
    nextDueAt: promisedMs === null ? null : new Date(now + promisedMs).toISOString(),
    signatureForm: writtenForm,
  }
  const { writes, head } = extendChain('digests', heads.digests, [draft])
  const signed: typeof writes = []
  for (const { bytes } of writes) {
    signed.push({ key: signatureKeyOf(head.sequence), bytes: Buffer.from(await signer.sign(bytes)) })
  }
  const publicKey = { key: publicKeyKeyOf(keyId), bytes: Buffer.from(await signer.publicKeyPem()) }
  return { writes: [publicKey, ...signed, ...writes], next: { ...heads, digests: head } }
}
