import type { HeadState } from './head.ts'

/** Objects of a bucket, or of a copy of it in a folder. `list` sorts keys by their UTF-8 bytes. */
export type TrailReader = {
  get(key: string): Promise<Uint8Array | null>
  list(prefix: string): Promise<string[]>
}

/** The bucket of the trail. An object is written whole or not at all. */
export type TrailStore = TrailReader & {
  put(key: string, bytes: Uint8Array, options?: { signal?: AbortSignal; contentType?: string }): Promise<void>
}

/** Objects that can be made again: the index of recorded revisions, and appends too large for the head. */
export type WorkStore = TrailStore & { remove(keys: readonly string[]): Promise<void> }

/** The head of the trail, outside the bucket. `version` grows by one with each write; 0 before the first. */
export type HeadStore = {
  /** Reads what the last acknowledged write wrote, never an older state. */
  read(): Promise<VersionedHead | null>
  /** Writes if the version is still the given one; false when another writer was first. */
  write(state: HeadState, version: number): Promise<boolean>
}

/** The head as read, with what makes a write to it conditional. */
export type VersionedHead = { version: number; state: HeadState }

/** Signs digests: ECDSA on the curve P-256 over SHA-256, in DER, with the lower of the two s that prove the same. */
export type Signer = {
  /** SHA-256 of the public key's DER form (SubjectPublicKeyInfo), hex: an auditor notes it down. */
  keyId(): Promise<string>
  publicKeyPem(): Promise<string>
  sign(bytes: Uint8Array): Promise<Uint8Array>
}
