import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Signer } from '../audit/trail/ports.ts'
import { keyIdOf, withLowS } from '../audit/trail/signature.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/folders.ts'

/**
 * A signer over a P-256 key in a PEM file that only its owner may read; made when it is missing. For a laptop: whoever
 * can read the file can sign.
 * @throws FatalError `configuration` when the file holds no such key.
 */
export function createFileSigner(path: string): Signer {
  const privateKey = readKey(path) ?? makeKey(path)
  const publicKey = createPublicKey(privateKey)
  return {
    keyId: async () => keyIdOf(publicKey),
    publicKeyPem: async () => publicKey.export({ type: 'spki', format: 'pem' }) as string,
    sign: async (bytes) => withLowS(sign('sha256', bytes, { key: privateKey, dsaEncoding: 'der' })),
  }
}

/** The ids of the keys in a file: of the one that signs, or of none where there is no file. It makes none. */
export function fileKeyIds(path: string): string[] {
  const privateKey = readKey(path)
  return privateKey ? [keyIdOf(createPublicKey(privateKey))] : []
}

function readKey(path: string): KeyObject | null {
  try {
    const key = createPrivateKey(readFileSync(path))
    if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
    throw new Error('it is not on the curve P-256')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    const message = `the signing key in ${path} can't be used: ${messageOf(cause)}. Restore it, or move it away to start with a new one`
    throw new FatalError(message, { code: 'configuration', cause })
  }
}

/** Makes a key. Of two processes that do it at the same time, the first wins and the other reads. */
function makeKey(path: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  makeFolder(dirname(path))
  try {
    writeFileSync(path, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
    return privateKey
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return readKey(path) ?? privateKey
  }
}
