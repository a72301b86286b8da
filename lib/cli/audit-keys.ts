import { InvalidArgumentError } from 'commander'

/** Ids as they are given one after the other; a key that can be no key must not look like one that did not sign. */
function keyIds(text: string, before: string[] = []): string[] {
  if (/^[0-9a-f]{64}$/i.test(text)) return [...before, text.toLowerCase()]
  throw new InvalidArgumentError('It must be the id of a key: 64 hex digits.')
}

/** The option that names the keys that may have signed; without it, the key that signs here, or any in a copy. */
export const keyIdOption = [
  '--key-id <id...>',
  'ids of the keys that may have signed, as you know them from elsewhere',
  keyIds,
] as const

/** Where the keys come from that signatures were checked against. */
export type KeysFrom = 'arguments' | 'signer' | 'copy'

/** What to say before the id of a key that signed. */
export const signedBy = {
  arguments: 'Signed by the key that you named:',
  signer: 'Signed by the key that signs here; compare it with what you were told:',
  copy: 'Signed by a key that was taken from the copy itself; compare it with what you were told:',
} as const satisfies Record<KeysFrom, string>
