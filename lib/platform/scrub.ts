/** What stands in a text where a credential was. */
const mask = '[secret]'

const anyBearer = /bearer(\s|%20|\+)+[^\s"'<>,;&\\]+/gi

/** The most of a foreign body that an error shows, in characters. */
const excerptLength = 200

/**
 * Takes a credential out of a text: as it is, URL-encoded, in base64 (at any alignment, since it may be encoded together
 * with what stands before it), and whatever follows the word Bearer.
 */
export function scrub(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].flatMap(formsOf).sort((a, b) => b.length - a.length)
  const named = forms.length === 0 ? text : text.replace(new RegExp(forms.map(escaped).join('|'), 'gi'), mask)
  return named.replace(anyBearer, `Bearer ${mask}`)
}

/** The beginning of a body on one line, for an error message. Scrubbed before it is cut, so that no part of a key stays. */
export function excerpt(body: string, secrets: Iterable<string>): string {
  const clean = scrub(body, secrets).replace(/\s+/g, ' ').trim()
  return clean.length <= excerptLength ? clean : `${clean.slice(0, excerptLength - 1)}…`
}

function formsOf(secret: string): string[] {
  const encoded = [0, 1, 2].flatMap((offset) => {
    const base64 = base64At(secret, offset)
    return [base64, base64.replaceAll('+', '-').replaceAll('/', '_')]
  })
  // A form of a few characters would match everywhere and hide nothing.
  return [secret, encodeURIComponent(secret), ...encoded.filter((form) => form.length >= 6)].filter(Boolean)
}

/** The base64 characters that a secret alone decides when it begins at an offset in its group of three bytes. */
function base64At(secret: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)])
  const ownBits = bytes.length * 8
  return bytes.toString('base64').slice(Math.ceil((offset * 8) / 6), Math.floor(ownBits / 6))
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
