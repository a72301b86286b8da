import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { DryRunOperationException, GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms'
import type { Signer } from '../audit/trail/ports.ts'
import { keyIdOf, withLowS } from '../audit/trail/signature.ts'
import { FatalError } from '../core/errors.ts'
import { callAws } from './aws-errors.ts'
import { type AwsTarget, clientSettings } from './clients.ts'

/**
 * A signer over an ECC_NIST_P256 key in KMS, which never leaves it. `keyArn` is its ARN, id or alias. The target is
 * AWS itself: the emulators have no KMS, and the SDK's own AWS_ENDPOINT_URL_KMS names another place.
 */
export function createKmsSigner({ target, keyArn }: { target: AwsTarget; keyArn: string }): Signer {
  const kms = createKms(target)
  let publicKey: Promise<KeyObject> | undefined
  const readPublicKey = () => {
    publicKey ??= fetchPublicKey(kms, keyArn)
    publicKey.catch(() => {
      // The next call asks again.
      publicKey = undefined
    })
    return publicKey
  }
  return {
    keyId: async () => keyIdOf(await readPublicKey()),
    publicKeyPem: async () => (await readPublicKey()).export({ type: 'spki', format: 'pem' }) as string,
    sign: (bytes) =>
      callAws({ what: `sign with ${keyArn}` }, async () => {
        const { Signature } = await kms.send(
          new SignCommand({
            KeyId: keyArn,
            // Raw messages end at 4 KB.
            Message: createHash('sha256').update(bytes).digest(),
            MessageType: 'DIGEST',
            SigningAlgorithm: 'ECDSA_SHA_256',
          }),
        )
        if (!Signature) throw noAnswer(keyArn, 'signature')
        // KMS answers either form.
        return withLowS(Signature)
      }),
  }
}

/** A client for KMS, which no emulator stands in for. */
export function createKms(target: AwsTarget): KMSClient {
  return new KMSClient(clientSettings(target))
}

/**
 * Asks KMS whether the caller may sign with a key, without a signature.
 * @throws FatalError `forbidden` or `configuration` that says what is missing.
 */
export function mayBeSignedWith({ kms, keyArn }: { kms: KMSClient; keyArn: string }): Promise<void> {
  return callAws({ what: `sign with ${keyArn}` }, async () => {
    const Message = createHash('sha256').digest()
    const how = { MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256', DryRun: true } as const
    await kms.send(new SignCommand({ KeyId: keyArn, Message, ...how })).catch((error) => {
      // The error of a dry run that would have succeeded.
      if (!(error instanceof DryRunOperationException)) throw error
    })
  })
}

function fetchPublicKey(kms: KMSClient, keyArn: string): Promise<KeyObject> {
  return callAws({ what: `read the public key of ${keyArn}` }, async () => {
    const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: keyArn }))
    if (!PublicKey) throw noAnswer(keyArn, 'public key')
    const key = createPublicKey({ key: Buffer.from(PublicKey), type: 'spki', format: 'der' })
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw noAnswer(keyArn, 'public key on P-256')
    return key
  })
}

function noAnswer(keyArn: string, what: string) {
  return new FatalError(`KMS returned no ${what} of ${keyArn}; check that it is an ECC_NIST_P256 key for signing`, {
    code: 'configuration',
  })
}
