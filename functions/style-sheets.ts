/**
 * What the document that pictures are drawn into finds in place of its parser of style sheets (`bundling` in
 * infra/constructs): an eighth of the bundle of write-report, for a property of `<style>` that drawing never asks for.
 */
export function parse(): never {
  throw new TypeError('no function reads the sheet of a style element: its parser is left out of the bundles')
}
