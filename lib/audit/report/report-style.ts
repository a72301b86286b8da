/** What the audit report has beside the style of all reports. */
export const auditStyle = `
.place { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .25rem 1.5rem; margin: 1rem 0; }
.place dt { color: var(--soft); font-size: .85rem; } .place dd { margin: 0; font-weight: 600; }
.place div:first-child dd { white-space: nowrap; }
.verdict.unproved { border-color: var(--warning); }
.keys { padding-left: 1.25rem; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem 2rem; align-items: start; background: var(--box); border-radius: .4rem;
  padding: .75rem 1rem; margin: 1rem 0; }
.filters fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.filters legend { padding: 0; font-size: .85rem; font-weight: 600; }
.filters label { display: block; padding: .1rem 0; cursor: pointer; }
.filters input { accent-color: var(--info); width: 1rem; height: 1rem; margin: 0; vertical-align: -.1rem; }
.filters button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--soft); border-radius: .4rem;
  padding: .25rem .75rem; cursor: pointer; }
summary { cursor: pointer; }
.person { margin: 1.5rem 0 0; }
.person > summary { border-bottom: 1px solid var(--line); padding: .25rem 0; }
.person > summary h3 { display: inline; }
.aside, .paper { position: absolute; left: -999rem; }
th[scope=row] .tag, .hour { font-family: system-ui, sans-serif; }
td ul, td ol { margin: 0; padding-left: 1.1rem; }
td details p { margin: .25rem 0; }
.changes time { white-space: nowrap; }
.register td, .register th[scope=row] { min-width: 0; font-size: .85rem; }
th.of { background: var(--box); font-size: .85rem; }
@media print, (min-width: 60rem) {
  .register .whole { white-space: nowrap; }
  .changes, .full, .settings { table-layout: fixed; }
  .changes thead th:nth-child(1) { width: 29%; } .changes thead th:nth-child(2) { width: 9.5rem; }
  .changes thead th:nth-child(3) { width: 9rem; } .changes thead th:nth-child(6) { width: 4rem; }
  .full thead th:nth-child(1) { width: 34%; } .settings thead th:nth-child(1) { width: 34%; }
}
.attention th[scope=row] { font-family: system-ui, sans-serif; font-size: 1rem; font-weight: 400; }
@media (min-width: 60rem) { .attention th[scope=row] { min-width: 24rem; } }
@media screen and (max-width: 60rem) { .changes .hour { display: none; } }
@media screen and (max-width: 40rem) { .changes .hour { display: inline; } .register th[scope=row]::before { content: 'Revision '; } }
`

/**
 * The style of the paper: compact, with the number of each page, annexes on sheets of their own, and unfolded where paper
 * has no other place for it. `period` is text of ours.
 */
export function paperStyle(period: string): string {
  const margin = 'font: 8pt system-ui, sans-serif; color: #565d66;'
  return `
@page { size: A4; margin: 14mm 12mm 15mm; @bottom-right { content: counter(page) ' / ' counter(pages); ${margin} }
  @bottom-left { content: 'Audit report: enterprise settings, ${period}'; ${margin} } }
${['revisions', 'full', 'checking']
  .map(
    (id, at) => `@page ${id} { @top-left { content: 'Annex ${'ABC'[at]}'; ${margin} } }
@media print { section[aria-labelledby=${id}] { page: ${id}; } }`,
  )
  .join('\n')}
@media print {
  :root { font-size: 8.5pt; }
  body { line-height: 1.3; }
  main, header, footer { padding: 0; }
  header { padding-top: 0; }
  nav { display: block; } nav ul { display: block; columns: 2; margin: .5rem 0; } nav a { color: inherit; text-decoration: none; }
  h2 { margin: 1.1rem 0 .4rem; }
  p, .facts, .place { margin: .4rem 0; }
  .facts { grid-template-columns: repeat(6, 1fr); gap: .4rem; } .facts div { padding: .3rem .5rem; } .facts dd { font-size: 1.05rem; }
  .place { grid-template-columns: repeat(4, auto); }
  .verdict { padding: .4rem .8rem; print-color-adjust: exact; }
  th, td { padding: .12rem .4rem; } td { font-size: .9rem; }
  code, td.before, td.after, th[scope=row] { font-size: .8rem; }
  .filters { display: none; }
  .person { margin-top: .8rem; }
  .why { display: none; }
  .changes .hour { display: none; } .changes thead th:nth-child(2) { width: 11%; } .changes thead th:nth-child(3) { width: 15%; }
  .attention th[scope=row] { font-size: .9rem; } .attention thead th:nth-child(1) { width: 55%; }
  .tag { border: 0; padding: 0; }
  .paper { position: static; }
  summary { list-style: none; }
  .settings details::details-content, .annex::details-content { display: block; content-visibility: visible; height: auto; }
  .settings summary, .annex > summary { display: none; }
  .settings li, .settings ul, .settings ol, .full li, .full ul, .full ol, li li, li ul, li ol { display: inline; padding: 0; }
  .settings li:not(:last-child)::after, .full li:not(:last-child)::after, li li:not(:last-child)::after { content: '; '; }
  tr:has(> .of) { break-after: avoid; }
  .settings td > details > ol > li { display: list-item; margin-left: 1.2rem; }
}
`
}
