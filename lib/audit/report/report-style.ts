/** What the audit report has beside the style of all reports: the list of revisions. */
export const auditStyle = `
ol.timeline { list-style: none; padding: 0; margin: 0; }
ol.timeline > li { border: 1px solid var(--line); border-radius: .4rem; padding: .75rem 1rem; margin-bottom: .75rem;
  content-visibility: auto; contain-intrinsic-size: auto 12rem; }
ol.timeline table { table-layout: fixed; }
ol.timeline thead th:nth-child(1) { width: 38%; } ol.timeline thead th:nth-child(2) { width: 12%; }
ol.timeline p { margin: .1rem 0; }
@media (min-width: 60rem) { section[aria-labelledby=attention] th[scope=row] { min-width: 15rem; }
  td.day { min-width: 7.25rem; } }
@media print {
  ol.timeline > li { content-visibility: visible; }
}
`
