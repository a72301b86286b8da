/** The style of all reports: readable on a phone, in print, in the dark, and without a mouse. */
export const pageStyle = `
:root { color-scheme: light dark; --text: #1a1d21; --soft: #565d66; --paper: #fff; --line: #d3d8de; --box: #f4f6f8;
  --critical: #a4161a; --warning: #8a5300; --info: #1d5b8f; --good: #1c6b34; --gone: #fbe9e9; --new: #e6f4ea; }
@media (prefers-color-scheme: dark) { :root { --text: #e6e8eb; --soft: #a9b1ba; --paper: #15181c; --line: #3a414a;
  --box: #1f242a; --critical: #ff9a9a; --warning: #f3c069; --info: #8cc4f5; --good: #86d79c; --gone: #3a2224; --new: #1f3326; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main, header, footer { max-width: 62rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .25rem; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 .75rem; border-bottom: 2px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1.05rem; margin: 0; }
a { color: var(--info); }
:focus-visible { outline: 3px solid var(--info); outline-offset: 2px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--paper); padding: .5rem; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
.soft, time { color: var(--soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1rem 0; padding: 0; }
.facts div { background: var(--box); border-radius: .4rem; padding: .6rem .8rem; }
.facts dt { color: var(--soft); font-size: .85rem; }
.facts dd { margin: 0; font-size: 1.25rem; font-weight: 600; }
.verdict { border-left: .4rem solid var(--good); background: var(--box); padding: .75rem 1rem; font-weight: 600; }
.verdict.bad { border-color: var(--critical); }
.tag { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .6rem; font-size: .8rem;
  font-weight: 600; white-space: nowrap; }
.critical { color: var(--critical); } .warning { color: var(--warning); } .info { color: var(--info); }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 0; }
caption { text-align: left; color: var(--soft); padding-bottom: .25rem; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-top: 1px solid var(--line); }
td, th[scope=row] { overflow-wrap: anywhere; min-width: 4.5rem; }
thead th { border-top: 0; overflow-wrap: normal; white-space: nowrap; color: var(--soft); font-size: .85rem; font-weight: 600; }
td.before { background: var(--gone); } td.after { background: var(--new); }
td.before:empty, td.after:empty { background: none; }
code, td.before, td.after, th[scope=row] { font-family: ui-monospace, monospace; font-size: .85rem; }
th[scope=row] { font-weight: 600; }
pre { background: var(--box); white-space: pre-wrap; padding: .75rem 1rem; overflow-x: auto; border-radius: .4rem; }
.why { font-family: system-ui, sans-serif; font-weight: 400; font-size: .85rem; display: block; }
@media (max-width: 40rem) {
  thead { position: absolute; left: -999rem; }
  tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0; }
  th[scope=row], td { display: block; overflow-wrap: anywhere; border: 0; padding: .15rem .4rem; }
  td[data-label]:not(:empty)::before { content: attr(data-label) ': '; color: var(--soft); font-family: system-ui, sans-serif; }
}
@media print {
  :root { color-scheme: light; }
  nav, .skip { display: none; }
  main, header, footer { max-width: none; }
  tr, h2, h3 { break-inside: avoid; break-after: auto; }
  h2, h3 { break-after: avoid; }
  td.before, td.after, .verdict, .facts div { print-color-adjust: exact; }
}
`
