import { periods } from './periods.ts'

const anyPeriod = periods.map(({ id }) => `.in-${id}`).join(', ')
const chosen = periods.map(({ id }) => `.pictures:has(#period-${id}:checked) .in-${id}`).join(', ')

/** The style of the pictures, beside that of the page: its colours, and what a period shows. */
export const pictureStyle = `
:root { --picture-1: #2a6f97; --picture-2: #b5651d; --picture-3: #9aa5b1; }
@media (prefers-color-scheme: dark) { :root { --picture-1: #6cb4dd; --picture-2: #e0a065; --picture-3: #66727f; } }
.pictures h3 { font-size: 1.15rem; margin: 2rem 0 .5rem; scroll-margin-top: 4rem; }
.picture-groups { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
.picture-groups a { display: inline-block; padding: .2rem 0; }
.period { position: sticky; top: 0; z-index: 1; background: var(--paper); border: 0; border-bottom: 1px solid var(--line);
  margin: 0; padding: .5rem 0; display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: baseline; }
.period legend { float: left; padding: 0; margin-right: .75rem; font-weight: 600; }
.period span { position: relative; }
.period input { position: absolute; opacity: 0; inset: 0; margin: 0; width: 100%; height: 100%; cursor: pointer; }
.period label { display: block; padding: .2rem .8rem; border: 1px solid var(--line); border-radius: 1rem; }
.period input:checked + label { background: var(--text); color: var(--paper); border-color: var(--text); }
.period input:focus-visible + label { outline: 3px solid var(--info); outline-offset: 2px; }
.picture-grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem 2rem; align-items: start; }
.picture { min-width: 0; scroll-margin-top: 4rem; }
.picture h4 { font-size: 1rem; margin: 0; }
.picture p { margin: .1rem 0 .4rem; font-size: .9rem; }
.picture svg { display: block; width: 100%; height: auto; font: 12px system-ui, sans-serif; color: var(--soft); }
.picture summary { cursor: pointer; color: var(--info); font-size: .9rem; }
.picture pre { font-size: .8rem; margin: .3rem 0; }
.picture th[scope=row] { font-family: inherit; font-weight: 400; }
.picture table { font-size: .9rem; }
.picture thead th { white-space: normal; }
.picture details { overflow-x: auto; }
.picture .number { text-align: right; font-variant-numeric: tabular-nums; }
@supports selector(:has(*)) { ${anyPeriod} { display: none; } ${chosen} { display: block; } }
@media (max-width: 40rem) {
  .period { gap: .25rem .4rem; }
  .period legend { position: absolute; clip-path: inset(50%); }
  .period label { padding: .2rem .6rem; }
  .picture thead { position: static; }
  .picture tr { display: table-row; }
  .picture th[scope=row], .picture td { display: table-cell; border-top: 1px solid var(--line); }
}
@media print {
  .period { position: static; }
  .period input:not(:checked) + label, .picture-groups, .picture details:not([open]) { display: none; }
  .period input:checked + label { background: none; color: var(--text); padding: 0; border: 0; }
  .picture { break-inside: avoid; }
  .picture svg { print-color-adjust: exact; }
}
`
