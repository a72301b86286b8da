import { timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import type { Clock } from '../../core/clock.ts'
import { FatalError } from '../../core/errors.ts'
import { sha256Bytes } from '../../core/hash.ts'

/** Whether a value of the Authorization header holds a token that is valid. */
export type CheckToken = (authorization: string | undefined) => Promise<boolean>

/** How long tokens are believed: one that was taken out of the secret works no longer than this. */
const believedMs = 5 * 60_000
/** An unknown token may be a new one. Reading the secret for each of them would let a stranger make us read all day. */
const readAgainMs = 60_000

/** A check against the tokens of a secret, which may change while this runs. */
export function createTokenCheck({ read, clock }: { read: () => Promise<string>; clock: Clock }): CheckToken {
  let known: { tokens: Promise<Uint8Array[]>; at: number } | null = null
  const tokensNoOlderThan = (ms: number) => {
    const now = clock.now()
    if (known && now - known.at < ms) return known.tokens
    const reading = { tokens: read().then((text) => tokensIn(text).map(sha256Bytes)), at: now }
    known = reading
    reading.tokens.catch(() => {
      if (known === reading) known = null
    })
    return reading.tokens
  }
  return async (authorization) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (given === undefined) return false
    const digest = sha256Bytes(given)
    return isAmong(digest, await tokensNoOlderThan(believedMs)) || isAmong(digest, await tokensNoOlderThan(readAgainMs))
  }
}

/** Compares digests, all of one length, with each token whether or not an earlier one was right. */
function isAmong(digest: Uint8Array, tokens: readonly Uint8Array[]): boolean {
  let found = false
  for (const token of tokens) found = timingSafeEqual(digest, token) || found
  return found
}

/** Shorter ones could be guessed; what fits no header can't be sent. */
const Token = z.string().regex(/^\S{32,256}$/)
const Tokens = z.object({ tokens: z.array(Token).min(1).max(2) })

/**
 * The one or two tokens of a secret: its text, or JSON with `tokens`.
 * @throws FatalError `configuration` when the secret holds no such thing.
 */
export function tokensIn(text: string): string[] {
  const trimmed = text.trim()
  const found = trimmed.startsWith('{') ? Tokens.safeParse(parsed(trimmed)).data?.tokens : [trimmed]
  if (found?.every((token) => Token.safeParse(token).success)) return found
  throw new FatalError(
    'The secret with the tokens of machines holds no token: write one of 32 to 256 characters without spaces into it, ' +
      'or {"tokens": ["new", "old"]} with one or two.',
    { code: 'configuration' },
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
