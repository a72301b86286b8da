/** Text that is HTML already, so that it is not escaped again. */
export type Html = { readonly html: string }

type HtmlValue = Html | string | number | null | false | readonly HtmlValue[]

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function render(value: HtmlValue): string {
  if (value === null || value === false) return ''
  if (typeof value === 'string') return value.replace(/[&<>"']/g, (character) => escapes[character] as string)
  if (typeof value === 'number') return String(value)
  return 'html' in value ? value.html : value.map(render).join('')
}

/** A template whose values are escaped, unless they are HTML already. */
export function html(texts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return {
    html: texts.reduce((out, text, at) => `${out}${render(values[at - 1] ?? null)}${text}`),
  }
}

/** HTML that was written by hand, as a style sheet. */
export function rawHtml(text: string): Html {
  return { html: text }
}
