const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/**
 * The first key that stands twice in one object of a JSON text, or null. Readers disagree on which of the two counts,
 * so such a text has no meaning that we could act on. The text must be valid JSON.
 */
export function duplicateKeyOf(text: string): string | null {
  const open: (Set<string> | null)[] = []
  let lastString = ''
  for (const [part] of text.matchAll(token)) {
    if (part === '{') open.push(new Set())
    else if (part === '[') open.push(null)
    else if (part === '}' || part === ']') open.pop()
    else if (part === ':') {
      const keys = open.at(-1)
      // Two spellings of one key ("limit", "lim\u0069t") are the same key.
      const key = JSON.parse(lastString) as string
      if (keys?.has(key)) return key
      keys?.add(key)
    } else lastString = part
  }
  return null
}
