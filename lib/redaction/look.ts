/** Reasons to look into a text, as bits. */
export const hasSign = 1
export const hasAt = 2
export const hasDashes = 4
export const hasToken = 8
export const hasElement = 16
export const hasSpace = 32
export const hasUrl = 64

// Kinds of characters. Those of a token are bits, so that a word's kinds can be added up; hexadecimal letters tell nothing.
const hexLetter = 0
const digit = 1
const lowerCase = 2
const upperCase = 4
const joint = 8
const dash = 9
const other = 10
const space = 11
const sign = 12
const at = 13
const angle = 14
const slash = 15

const kinds = new Uint8Array(256).fill(other)
function classify(characters: string, kind: number): void {
  for (const character of characters) kinds[character.charCodeAt(0)] = kind
}
classify('abcdef', hexLetter)
classify('0123456789', digit)
classify('ghijklmnopqrstuvwxyz', lowerCase)
classify('ABCDEFGHIJKLMNOPQRSTUVWXYZ', upperCase)
classify('_', joint)
classify('-', dash)
classify(' \t\r\n', space)
classify('=:', sign)
classify('@', at)
classify('<', angle)
classify('/', slash)

const shortestToken = 16
const longWord = 20
const longNumber = 9

/**
 * What a text holds that a secret in it would need, in one pass over its characters: most texts hold nothing and are done.
 * A token is a run of 16 letters, digits, dashes and underscores with a word in it that is neither a plain word nor a
 * number nor a UUID's part. A long word, so also a hash, counts where something stands before it.
 */
export function lookAt(text: string): number {
  let reasons = 0
  let run = 0
  let word = 0
  let kindsInWord = 0
  let isMade = false
  let before = space
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const kind = code < 256 ? (kinds[code] as number) : code === 0xff1a || code === 0xff1d ? sign : other
    if (kind < joint) {
      run += 1
      word += 1
      kindsInWord |= kind
    } else {
      if (isMadeWord(kindsInWord, word) || (word >= longWord && run > word)) isMade = true
      word = 0
      kindsInWord = 0
      if (kind === joint) run += 1
      else if (kind === dash) {
        run += 1
        if (before >= dash) reasons |= hasDashes
      } else {
        if (isMade && run >= shortestToken) reasons |= hasToken
        isMade = false
        run = 0
        reasons |= reasonFor(kind, before)
      }
    }
    before = kind
  }
  const isToken = isMade || isMadeWord(kindsInWord, word) || (word >= longWord && run > word)
  return isToken && run >= shortestToken ? reasons | hasToken : reasons
}

/** Digits among letters, a long number, or capitals in a word that is too long for a name. */
function isMadeWord(kindsInWord: number, length: number): boolean {
  if ((kindsInWord & digit) !== 0) return kindsInWord > digit || length >= longNumber
  return (kindsInWord & upperCase) !== 0 && length >= longWord
}

function reasonFor(kind: number, before: number): number {
  if (kind === space) return hasSpace
  if (kind === sign) return hasSign
  if (kind === at) return hasAt
  if (kind !== slash) return 0
  return before === angle ? hasElement : before === slash ? hasUrl : 0
}

const uuid = /^(?:[a-z]{1,12}[_-])?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$|^[\da-f]{16,128}$/i
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** Whether a text is a UUID, a hash or a time: what most texts that look made are. */
export function isHarmless(text: string): boolean {
  return text.length <= 128 && (uuid.test(text) || isoTime.test(text))
}
