/** Text that is HTML already, so that it is not escaped again. */
export type Html = { readonly html: string }

type Part = Html | string | number | null | false | readonly Part[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function render(part: Part): string {
  if (part === null || part === false) return ''
  if (typeof part === 'string') return part.replace(/[&<>"']/g, (character) => escapes[character] as string)
  if (typeof part === 'number') return String(part)
  return 'html' in part ? part.html : part.map(render).join('')
}

/** A template whose values are escaped, unless they are HTML already. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return {
    html: texts.reduce((out, text, at) => `${out}${render(parts[at - 1] ?? null)}${text}`),
  }
}

/** HTML that was written by hand, as a style sheet. */
export function rawHtml(text: string): Html {
  return { html: text }
}
