/** What Windows or the encoding itself reserves in a file's name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a key may hold them, a file's name may not
const reserved = /[<>:"|?*\\%\u0000-\u001f]/g
/** Stands for the part of a key between two slashes that follow each other: no encoded part is like it. */
const emptyPart = '%'

/**
 * The path of the file for an object: its key, with the few characters that file systems reserve percent-encoded. A
 * leading dot is one of them, so that no key leads out of its bucket and hidden files are never objects.
 */
export function pathOf(key: string): string {
  return key.split('/').map(encodePart).join('/')
}

/** The key whose file has this path, or null when no key has: it's a hidden file, or one of a stranger. */
export function keyOf(path: string): string | null {
  const key = path.split('/').map(decodePart).join('/')
  return pathOf(key) === path ? key : null
}

function encodePart(part: string): string {
  return part === '' ? emptyPart : part.replace(reserved, percentEncoded).replace(/^\./, percentEncoded)
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
}

function decodePart(part: string): string {
  return part === emptyPart
    ? ''
    : part.replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
