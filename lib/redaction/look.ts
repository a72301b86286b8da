/** Reasons to look into a text, as bits. */
export const hasSign = 1
export const hasAt = 2
export const hasDashes = 4
export const hasToken = 8
export const hasElement = 16
export const hasSpace = 32
export const hasUrl = 64
const hasList = 128

// Kinds of characters. Those of a token are bits, so that a word's kinds can be added up.
const hexLetter = 1
const digit = 2
const lowerCase = 4
const upperCase = 8
const joint = 16
const dash = 17
const other = 18
const space = 19
const sign = 20
const at = 21
const angle = 22
const slash = 23
const bracket = 24

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
classify('[', bracket)

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
  let kindsInWord = 0
  let wordStart = 0
  let runStart = 0
  let isMade = false
  let before = space
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const kind = code < 256 ? (kinds[code] as number) : kindOfWide(code)
    if (kind < joint) {
      kindsInWord |= kind
      continue
    }
    if (kindsInWord >= digit && isMadeWord(kindsInWord, i - wordStart, i - runStart)) isMade = true
    // Two of these in a row have no word between them.
    const previous = i === wordStart ? before : joint
    if (kind > dash) {
      if (isMade && i - runStart >= shortestToken) reasons |= hasToken
      isMade = false
      runStart = i + 1
      reasons |= reasonFor(kind, previous)
    } else if (kind === dash && previous >= dash) reasons |= hasDashes
    wordStart = i + 1
    kindsInWord = 0
    before = kind
  }
  const run = text.length - runStart
  if (run < shortestToken) return reasons
  return isMade || isMadeWord(kindsInWord, text.length - wordStart, run) ? reasons | hasToken : reasons
}

function kindOfWide(code: number): number {
  return code === 0xff1a || code === 0xff1d ? sign : other
}

/** Digits among letters, a long number, capitals after a prefix or in a word too long for a name, or a hash after a prefix. */
function isMadeWord(kindsInWord: number, word: number, run: number): boolean {
  const isLong = word >= longWord
  const isPart = run > word
  if ((kindsInWord & digit) === 0) return (isLong && isPart) || ((kindsInWord & upperCase) !== 0 && (isLong || isPart))
  return kindsInWord > (hexLetter | digit) || (kindsInWord === digit && word >= longNumber) || (isLong && isPart)
}

function reasonFor(kind: number, before: number): number {
  if (kind === space) return hasSpace
  if (kind === sign) return hasSign
  if (kind === at) return hasAt
  if (kind === bracket) return hasList
  if (kind !== slash) return 0
  return before === angle ? hasElement : before === slash ? hasUrl : 0
}

const uuid = /^(?:[a-z]{1,12}[_-])?[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$|^[\da-f]{16,128}$/i
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** Whether a text is a UUID, a hash or a time: what most texts that look made are. */
export function isHarmless(text: string): boolean {
  return text.length <= 128 && (isoTime.test(text) || uuid.test(text))
}

const uuidLength = 36
const longestPrefix = 12
const ofUuid = new Uint8Array(256)
for (const character of '0123456789abcdef-') ofUuid[character.charCodeAt(0)] = 2
for (const character of 'ghijklmnopqrstuvwxyz_') ofUuid[character.charCodeAt(0)] = 1

/** Whether a text is a UUID, bare or after a prefix like `user_`: much of what records hold, so it has a look of its own. */
export function isUuid(text: string): boolean {
  const start = text.length - uuidLength
  if (start < 0 || start > longestPrefix) return false
  if (text.charCodeAt(start + 8) !== 45 || text.charCodeAt(start + 23) !== 45) return false
  for (let i = start; i < text.length; i++) if (ofUuid[text.charCodeAt(i)] !== 2) return false
  for (let i = 0; i < start; i++) if (!ofUuid[text.charCodeAt(i)]) return false
  return true
}
