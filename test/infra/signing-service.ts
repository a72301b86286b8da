import { createECDH, generateKeyPairSync } from 'node:crypto'

/** What KMS does with an ECC_NIST_P256 key: it signs digests, not the messages that node:crypto wants to hash itself. */
export function createSigningService() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const secret = toInteger(Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url'))
  return {
    GetPublicKey: () => ({ PublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') }),
    Sign: ({ Message, MessageType, SigningAlgorithm }: Record<string, unknown>) => {
      if (MessageType !== 'DIGEST' || SigningAlgorithm !== 'ECDSA_SHA_256') return { __type: 'ValidationException' }
      return { Signature: sign(toInteger(Buffer.from(Message as string, 'base64')), secret).toString('base64') }
    },
  }
}

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
function modulo(value: bigint) {
  return ((value % order) + order) % order
}
function toInteger(bytes: Uint8Array) {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

/** ECDSA (SEC 1, 4.1.3): r is the first coordinate of k times the base point. */
function sign(digest: bigint, secret: bigint): Buffer {
  const once = createECDH('prime256v1')
  const r = modulo(toInteger(once.generateKeys().subarray(1, 33)))
  const s = modulo(inverse(toInteger(once.getPrivateKey())) * (digest + r * secret))
  const integers = Buffer.concat([derInteger(r), derInteger(s)])
  return Buffer.concat([Buffer.from([0x30, integers.length]), integers])
}

/** By Fermat: the order of the curve is a prime. */
function inverse(value: bigint): bigint {
  let [result, base] = [1n, modulo(value)]
  for (let exponent = order - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % order
    base = (base * base) % order
  }
  return result
}

function derInteger(value: bigint): Buffer {
  const hex = value.toString(16)
  const bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  const positive = (bytes[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([0x02, positive.length]), positive])
}
