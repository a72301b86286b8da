import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { Clock } from '../../core/clock.ts'
import { FatalError } from '../../core/errors.ts'
import { ofKnownForm } from '../../core/form.ts'
import { sha256 } from '../../core/hash.ts'
import { type Digest, keysPrefix, publicKeyKeyOf, signatureKeyOf } from '../trail/digest.ts'
import { ChainHeads } from '../trail/head.ts'
import type { Signer, TrailReader, TrailStore } from '../trail/ports.ts'
import { range, readAhead } from '../trail/read-ahead.ts'
import { chainNames, keyOf, unseal } from '../trail/sealed.ts'
import { keyIdOf, readPublicKey, signatureFormOf, writtenForm } from '../trail/signature.ts'
import { packReadme, readmePath } from './pack-readme.ts'
import { createOlderSignatures, isAsWritten, otherForm } from './signature-forms.ts'
import type { EvidenceFault, EvidenceNote } from './walk.ts'

/** The list of what an evidence pack holds. It is signed, so that a pack in which a file was altered does not verify. */
export const PackManifest = z.object({
  version: z.literal(1),
  exportedAt: z.string().describe('ISO 8601, UTC.'),
  keyId: z.string().describe('The key that signed this list; the signature is manifest.sig.'),
  head: ChainHeads.describe('How far the chains reach in this pack.'),
  files: z.array(z.object({ path: z.string(), bytes: z.int(), sha256: z.string() })),
  signatureForm: z
    .literal(writtenForm)
    .optional()
    .describe('The only form that manifest.sig may have; absent: either.'),
})
export type PackManifest = z.infer<typeof PackManifest>

const manifestPath = 'manifest.json'
const signaturePath = 'manifest.sig'
const verifierPath = 'verify.mjs'
const formatPath = 'AUDIT-FORMAT.md'
const copiesAtOnce = 16

type ExportDeps = {
  trail: TrailReader
  out: TrailStore
  signer: Signer
  clock: Clock
  /** The ends of the chains. */
  heads: ChainHeads
  /** Further files, as the report for people. */
  extras?: readonly { path: string; bytes: Uint8Array }[]
  onFile?: () => void
}

/**
 * Writes an evidence pack: what the newest digest vouches for and what proves it, the description of the format, and a
 * verifier that needs Node.js alone. Entries after the newest digest are left out; write a digest first.
 * @throws FatalError `not_found` when there is no digest yet, `damaged_state` when an object is missing.
 */
export async function exportPack(deps: ExportDeps): Promise<PackManifest> {
  const { trail, out, signer, clock, extras = [] } = deps
  const { keys, head, digestAt } = await packContents(deps)
  const files: PackManifest['files'] = []
  const add = async (path: string, bytes: Uint8Array) => {
    await out.put(path, bytes)
    files.push({ path, bytes: bytes.byteLength, sha256: sha256(bytes) })
    deps.onFile?.()
  }
  for await (const { item: key, value: bytes } of readAhead(keys, copiesAtOnce, (each) => trail.get(each))) {
    if (bytes) await add(key, bytes)
    else throw gone(key)
  }
  for (const { path, bytes } of [...packTexts(), ...extras]) await add(path, bytes)
  const keyId = await signer.keyId()
  const signerKey = publicKeyKeyOf(keyId)
  if (!files.some(({ path }) => path === signerKey)) await add(signerKey, Buffer.from(await signer.publicKeyPem()))
  const exportedAt = new Date(clock.now()).toISOString()
  const paths = files.map(({ path }) => path)
  const readme = packReadme({
    ...{ exportedAt, head, digestAt, hasReport: paths.includes('report.html') },
    keys: paths.filter((path) => path.startsWith(keysPrefix)),
  })
  await add(readmePath, Buffer.from(readme))
  const manifest = { version: 1, exportedAt, keyId, head, files, signatureForm: writtenForm } satisfies PackManifest
  const bytes = Buffer.from(canonicalJson(manifest))
  await out.put(manifestPath, bytes)
  await out.put(signaturePath, await signer.sign(bytes))
  return manifest
}

function gone(key: string) {
  return new FatalError(`${key} is not there; run "platform-sync audit verify" to see what is wrong with the trail`, {
    code: 'damaged_state',
  })
}

/** The keys of all that belongs into a pack, and how far it reaches. */
async function packContents({
  trail,
  heads,
}: ExportDeps): Promise<{ keys: Iterable<string>; head: ChainHeads; digestAt: string }> {
  const newest = keyOf('digests', heads.digests.sequence)
  if (heads.digests.sequence === 0) {
    throw new FatalError('there is no digest yet, so that nothing can be proved; run a sync, which writes one', {
      code: 'not_found',
    })
  }
  const object = unseal((await trail.get(newest)) ?? new Uint8Array())
  if (!object) throw gone(newest)
  const digest = object.value as unknown as Digest
  const head: ChainHeads = { ...digest.head, digests: heads.digests }
  const publicKeys = await trail.list(keysPrefix)
  const keys = function* () {
    yield* publicKeys
    for (const chain of chainNames) {
      for (const sequence of range(1, head[chain].sequence)) {
        yield keyOf(chain, sequence)
        if (chain === 'digests') yield signatureKeyOf(sequence)
      }
    }
  }
  return { keys: keys(), head, digestAt: digest.writtenAt }
}

/** The verifier and the description of the format, as they are in this project. */
function packTexts(): { path: string; bytes: Uint8Array }[] {
  return [
    { path: verifierPath, bytes: readFileSync(new URL('./verify-pack.mjs', import.meta.url)) },
    { path: formatPath, bytes: readFileSync(new URL('../../../docs/audit-format.md', import.meta.url)) },
  ]
}

/** The result of holding a pack against its signed list. */
export type PackCheck = { faults: EvidenceFault[]; notes: EvidenceNote[] }

/** Checks a pack against its signed list; null when the folder is no pack but a bare copy of the bucket. */
export async function checkPack(
  pack: TrailReader,
  { trustedKeyIds }: { trustedKeyIds?: readonly string[] },
): Promise<PackCheck | null> {
  const bytes = await pack.get(manifestPath)
  if (!bytes) return (await isPack(pack)) ? broken('missing', 'is not there, but what lies around it is') : null
  const manifest = parseManifest(bytes)
  if (!manifest) return broken('altered', 'is no list of a pack')
  const faults: EvidenceFault[] = []
  if (trustedKeyIds && !trustedKeyIds.includes(manifest.keyId)) {
    const message = `is signed by ${manifest.keyId}, which you don't trust`
    faults.push({ kind: 'unknown_key', place: manifestPath, message })
  }
  const signed = await checkManifest(pack, { bytes, manifest })
  return { faults: [...faults, ...signed.faults, ...(await checkFiles(pack, manifest))], notes: signed.notes }
}

async function isPack(pack: TrailReader): Promise<boolean> {
  for (const path of [signaturePath, formatPath, verifierPath]) if (await pack.get(path)) return true
  return false
}

function broken(kind: EvidenceFault['kind'], message: string): PackCheck {
  return { faults: [{ kind, place: manifestPath, message }], notes: [] }
}

/** Checks the signature of the list. */
async function checkManifest(
  pack: TrailReader,
  { bytes, manifest }: { bytes: Uint8Array; manifest: PackManifest },
): Promise<PackCheck> {
  const { keyId, signatureForm } = manifest
  const signature = await pack.get(signaturePath)
  const pem = await pack.get(publicKeyKeyOf(keyId))
  const key = pem && readPublicKey(pem)
  const form = key && keyIdOf(key) === keyId && signature ? signatureFormOf(key, bytes, signature) : null
  const place = signaturePath
  if (!form) {
    return { faults: [{ kind: 'bad_signature', place, message: `is not a signature of ${manifestPath}` }], notes: [] }
  }
  const older = createOlderSignatures()
  older.take({ key: manifestPath, form, signatureForm })
  const asWritten = isAsWritten({ form, signatureForm })
  return { faults: asWritten ? [] : [{ kind: 'altered', place, message: otherForm }], notes: older.notes() }
}

async function checkFiles(pack: TrailReader, { files }: PackManifest): Promise<EvidenceFault[]> {
  const faults: EvidenceFault[] = []
  const others = new Set((await pack.list('')).filter((path) => path !== manifestPath && path !== signaturePath))
  for await (const { item, value: bytes } of readAhead(files, copiesAtOnce, ({ path }) => pack.get(path))) {
    others.delete(item.path)
    if (!bytes)
      faults.push({ kind: 'missing', place: item.path, message: `is listed in ${manifestPath}, but not there` })
    else if (sha256(bytes) !== item.sha256) {
      faults.push({ kind: 'altered', place: item.path, message: `is not the file that ${manifestPath} lists` })
    }
  }
  for (const place of others) faults.push({ kind: 'unexpected', place, message: `is not listed in ${manifestPath}` })
  return faults
}

/** @throws FatalError `configuration` for the list of a later version. */
function parseManifest(bytes: Uint8Array): PackManifest | null {
  return PackManifest.safeParse(ofKnownForm(parsedValue(bytes), { what: 'evidence pack' })).data ?? null
}

function parsedValue(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}
