/** A person's address: `identity` tells two people apart, `address` is the spelling that is sent. */
export type EmailAddress = { identity: string; address: string }

/** The most bytes of an address: more than any mail server accepts. Also keeps an item of the ledger within its bounds. */
const maxBytes = 254

// Control and format characters (a zero width space, say) make two addresses look alike; white space is a slip.
const wellMade = /^[^\s@\p{C}\p{Z}]+@[^\s@\p{C}\p{Z}]+$/u

/**
 * The person that an address means: trimmed, NFC, lower case. Some servers tell `Ana@` from `ana@`, but the platform's
 * users and people's spreadsheets don't, and a plus tag makes another address.
 */
export function identityOf(text: string): string {
  return text.trim().normalize('NFC').toLowerCase().normalize('NFC')
}

/** Reads an address, or says why it is none. */
export function readEmail(value: unknown): EmailAddress | { reason: string } {
  if (typeof value !== 'string' || value.trim() === '') return { reason: 'the e-mail address is missing' }
  const address = value.trim()
  if (!wellMade.test(address)) return { reason: 'the e-mail address is malformed' }
  if (Buffer.byteLength(address) > maxBytes || Buffer.byteLength(identityOf(address)) > maxBytes) {
    return { reason: `the e-mail address is longer than ${maxBytes} bytes` }
  }
  return { identity: identityOf(address), address }
}
