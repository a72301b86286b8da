import type { Field, Value } from './picture.ts'

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const amount = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** How long a name is in a table. Names are what people wrote: they may be a book. */
const longestName = 80

/** A cell as people read it. */
export function valueText(value: Value, kind: Field['kind']): string {
  if (value === null) return ''
  return typeof value === 'string' ? cut(value, longestName) : forms[kind].format(scaled(value, kind))
}

/** A number beside an axis or a bar: short. */
export function tickText(value: number, kind: Field['kind']): string {
  return kind === 'share' || kind === 'points' ? valueText(value, kind) : compact.format(value)
}

const forms: Record<Field['kind'], Intl.NumberFormat> = {
  ...{ day: whole, name: whole, count: whole, amount, level: whole, share: percent },
  points: new Intl.NumberFormat('en', { maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
}

/** A difference of shares is told in points of a hundred. */
function scaled(value: number, kind: Field['kind']): number {
  return kind === 'points' ? value * 100 : value
}

/** A name in one line of at most so many characters, without what would change how the text around it reads. */
export function cut(text: string, most: number): string {
  // No more than the head is looked at: the rest is cut in any case.
  const line = text
    .slice(0, most * 4)
    .replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= most && text.length <= most * 4) return line
  return `${characters.slice(0, most - 1).join('')}…`
}
