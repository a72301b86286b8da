import { type Html, html } from '../../report/html.ts'

/** One of the questions that the list of changes can be narrowed by. */
export type Filter = {
  /** A word of letters: part of ids and attributes. */
  name: string
  title: string
  /** The first shows everything. `count` is that of the changes it shows. */
  choices: readonly { value: string; title: string; count: number }[]
}

/** The value that narrows nothing. */
export const everything = 'all'

/**
 * Radio buttons that narrow a list without a script: a rule for each choice hides what has another value in `data-<name>`.
 * They work for a screen alone: paper has everything, whatever was chosen.
 */
export function filterForm(filters: readonly Filter[]): Html {
  return html`<form class="filters" aria-label="Show only some changes">${filters.map(
    ({ name, title, choices }) =>
      html`<fieldset><legend>${title}</legend>${choices.map(
        ({ value, title, count }) =>
          html`<label><input type="radio" name="${name}" id="${idOf(name, value)}"${value === everything && html` checked`}> <bdi>${title}</bdi> <span class="soft">${count}</span></label>`,
      )}</fieldset>`,
  )}<button type="reset">Show all</button></form>`
}

/** The rules behind the buttons. A value with several words in `data-<name>` belongs to each of them. */
export function filterStyle(filters: readonly Filter[]): string {
  const rules = filters.flatMap(({ name, choices }) =>
    choices
      .filter(({ value }) => value !== everything)
      .map(
        ({ value }) =>
          `body:has(#${idOf(name, value)}:checked) [data-${name}]:not([data-${name}~="${value}"]) { display: none; }`,
      ),
  )
  return `@media screen {\n${rules.join('\n')}\n}\n`
}

function idOf(name: string, value: string): string {
  return `only-${name}-${value}`
}
