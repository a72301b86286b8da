import { type Html, html, rawHtml } from './html.ts'
import { pageStyle } from './style.ts'

/** A section of a page: its id, and its heading, which is also its entry in the list at the top. */
export type PageSection = { id: string; title: string; body: Html }

/** A page to look at. `lead` stands before the list of sections; `style` is added to the style of all pages. */
export type Page = {
  title: string
  writtenAt: string
  lead?: Html
  sections: readonly PageSection[]
  footer: Html
  style?: string
}

/**
 * One page that needs nothing but itself: no script, no request to anywhere, values only as text. The first section is
 * where a keyboard gets to at once.
 */
export function renderPage({ title, writtenAt, lead, sections, footer, style = '' }: Page): string {
  const [first] = sections
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; form-action 'none'">
<title>${title}</title>
<style>${rawHtml(pageStyle + style)}</style>
</head>
<body>
<a class="skip" href="#${first?.id ?? ''}">Skip to the ${(first?.title ?? '').toLowerCase()}</a>
<header>
<h1>${title}</h1>
<p class="soft">Written <time datetime="${writtenAt}">${shown(writtenAt)}</time>. All times are UTC.</p>
${lead ?? null}
<nav aria-label="Sections"><ul>${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul></nav>
</header>
<main>
${sections.map(sectionOf)}
</main>
<footer><p class="soft">${footer}</p></footer>
</body>
</html>
`.html
}

function sectionOf({ id, title, body }: PageSection): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}</section>
`
}

/** Numbers that say most, side by side. */
export function factList(facts: readonly (readonly [name: string, value: Html | string | number])[]): Html {
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}

/** A time for people; what is no time is shown as it is. */
export function shown(time: string): string {
  const ms = Date.parse(time)
  return Number.isNaN(ms) ? time : new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}
