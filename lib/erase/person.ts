/** What a person is found by. */
export type Person = {
  /** E-mail addresses, the one that was asked for first. */
  readonly addresses: readonly string[]
  /** Ids among the organization's users. */
  readonly ids: readonly string[]
  /** Names of more than one word: found wherever they stand. */
  readonly names: readonly string[]
  /** Names of one word, which others may have: found only beside an address, an id or a whole name. */
  readonly nameParts: readonly string[]
  /** What somebody named besides: a login, the name of a machine. */
  readonly others: readonly string[]
  /** What stands for an address where the configuration has it hashed. */
  readonly fingerprints: readonly string[]
}

/** The text that stands where a person's did. */
export const erased = 'erased'

/** Finds a person in texts, and takes them out. */
export type Finder = {
  /** Whether a text is an address, an id or anything else of the person, and nothing more. */
  is(text: string): boolean
  /** Whether a text names the person somewhere: in any case, also within JSON and in addresses of the web. */
  isIn(text: string): boolean
  /** A text of a record that names the person, without them. Parts of names go where they are a whole value. */
  without(text: string): string
}

/** A finder of a person. */
export function createFinder(person: Person): Finder {
  const { addresses, ids, names, others, fingerprints, nameParts } = person
  const wanted = [...new Set([...addresses, ...ids, ...names, ...others, ...fingerprints])].filter(
    (text) => text !== '',
  )
  // Longer ones first: of two that begin alike the whole one is taken out.
  const any = wanted
    .toSorted((a, b) => b.length - a.length)
    .map(formsOf)
    .join('|')
  const anywhere = new RegExp(`${before}(?:${any})${behind}`, 'giu')
  const alone = new RegExp(`^\\s*(?:${any})\\s*$`, 'iu')
  const parts = new Set(nameParts.filter((text) => text !== ''))
  const asValue = new RegExp(`(\\\\*")(?:${[...parts].map(formsOf).join('|')})(\\\\*")`, 'gu')
  return {
    is: (text) => alone.test(text.normalize('NFC')),
    isIn: (text) => {
      anywhere.lastIndex = 0
      return anywhere.test(text)
    },
    without: (text) => {
      if (parts.has(text)) return erased
      const rest = text.replace(anywhere, erased)
      return parts.size === 0 ? rest : rest.replace(asValue, `$1${erased}$2`)
    },
  }
}

const letters = '[\\p{L}\\p{N}\\p{M}]'
// What goes on before or behind is somebody else's. A letter that belongs to an escape (`\n`, `\u000a`, `%3C`) is part of no word.
const before = `(?:(?<!${letters}[._%+-]*)|(?<=\\\\[nrtbf]|\\\\u[\\da-f]{4}|%[\\da-f]{2}))`
const behind = `(?![._-]*${letters})`

/** A pattern for the ways in which a text may be written: as it is, escaped in JSON, or in an address of the web. */
function formsOf(text: string): string {
  return [...text.normalize('NFC')].map(formsOfLetter).join('')
}

function formsOfLetter(letter: string): string {
  if (/^[\p{L}\p{N}]$/u.test(letter) && letter < '\u0080') return letter
  if (letter === ' ') return '(?:\\s+|%20|\\+)'
  const escapes = letter.split('').map((unit) => `\\\\+u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const bytes = [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const forms = [letter, letter.normalize('NFD')].map((form) => [...form].map(literal).join(''))
  return `(?:${[...new Set(forms), escapes.join(''), bytes.join('')].join('|')})`
}

function literal(letter: string): string {
  return /^[\^$\\.*+?()[\]{}|/]$/.test(letter) ? `\\${letter}` : letter
}

/** Adds what is known of a person from somewhere else. */
export function joined(people: readonly Person[]): Person {
  const all = (of: (person: Person) => readonly string[]) => [...new Set(people.flatMap(of))]
  return {
    addresses: all(({ addresses }) => addresses),
    ids: all(({ ids }) => ids),
    names: all(({ names }) => names),
    nameParts: all(({ nameParts }) => nameParts),
    others: all(({ others }) => others),
    fingerprints: all(({ fingerprints }) => fingerprints),
  }
}
