import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { html } from '../html.ts'
import { barsOf } from './draw-bars.ts'
import { columnsOf, lineOf } from './draw-over-time.ts'
import type { Drawing } from './drawing.ts'

/** The width of a picture in its own units. It scales with the page: two beside each other on a desk, one on a phone. */
const width = 460

/** A picture of a table as SVG; null where nothing can be drawn. Colours and fonts are the page's. */
export function draw(drawing: Drawing): string | null {
  const options = drawing.rows.length === 0 ? null : optionsOf(drawing)
  if (options === null) return null
  const { document } = parseHTML('<html></html>')
  const svg = compacted(Plot.plot({ document, className: 'plot', width, ...options }).outerHTML)
  // Not as attributes of Plot's: names are part of what it says, and the document writes them as they are.
  const named = html`<svg role="img" aria-label="${drawing.title}"`.html
  return svg.replace(/^<svg([^>]*>)/, (_, rest) => `${named}${rest}${html`<desc>${drawing.summary}</desc>`.html}`)
}

function optionsOf(drawing: Drawing): Plot.PlotOptions | null {
  const { chart } = drawing
  if (chart.kind === 'line') return lineOf(drawing, chart)
  if (chart.kind === 'bars') return barsOf(drawing, chart)
  return chart.kind === 'none' ? null : columnsOf(drawing, chart)
}

const geometry = / (?:x|y|x1|x2|y1|y2|cx|cy|width|height|d|transform)="[^"]*"/g

/** Hundredths of a unit can't be seen, and the parts of an image have no names of their own. */
function compacted(svg: string): string {
  return svg
    .replaceAll(/ aria-label="[^"]*"/g, '')
    .replaceAll(geometry, (attribute) => attribute.replaceAll(/(\d\.\d)\d+/g, '$1'))
}
