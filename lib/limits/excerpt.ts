/** The beginning of a text from elsewhere, at most `length` UTF-16 units: one line, and nothing that a terminal would obey. */
export function excerpt(text: string, length: number): string {
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
}
