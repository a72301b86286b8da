/** The range in which a time of this platform can lie: 2000-01-01 to 2100-01-01. Seconds mistaken for ms fall outside. */
const earliestMs = Date.UTC(2000, 0, 1)
const latestMs = Date.UTC(2100, 0, 1)

/** Whether a number can be a time of this platform in Unix milliseconds. */
export function isPlausible(ms: number): boolean {
  return ms >= earliestMs && ms < latestMs
}

/** Whole Unix milliseconds of a plausible time, fractions cut; null for what is none: seconds, the zero of some language. */
export function wholeMs(ms: number): number | null {
  return isPlausible(ms) ? Math.trunc(ms) : null
}

// Date, and after "T" or a space the time with an optional offset. Extended forms have separators, basic ones none.
const offset = '(?: ?(z|[+-]\\d\\d(?::?[0-5]\\d)?))?'
const extended = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[t ](\\d\\d):([0-5]\\d)(?::([0-5]\\d|60)(?:[.,](\\d+))?)?${offset})?$`,
  'i',
)
const basic = new RegExp(
  `^(\\d{4})(\\d\\d)(\\d\\d)(?:t(\\d\\d)([0-5]\\d)(?:([0-5]\\d|60)(?:[.,](\\d+))?)?${offset})?$`,
  'i',
)

/**
 * The Unix milliseconds of a time that came as a string, or null when it is none that we understand: RFC 3339 and the
 * usual forms of ISO 8601, with or without an offset (then UTC, never the machine's zone), or Unix milliseconds as
 * digits. Digits beyond the millisecond are cut. A day that the calendar doesn't have is null, and so is what is out of range.
 */
export function parseTime(text: string): number | null {
  if (/^\d{12,14}$/.test(text)) return wholeMs(Number(text))
  const match = extended.exec(text) ?? basic.exec(text)
  const ms = match ? msOf(match) : null
  return ms !== null && isPlausible(ms) ? ms : null
}

const minuteMs = 60_000
const dayMs = 86_400_000

function msOf([, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone]: RegExpExecArray) {
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day))
  if (!isDay(midnight, Number(month), Number(day))) return null
  const away = offsetMs(zone)
  // 24:00 is the end of a day, and nothing comes after it in that day.
  const hours = Number(hour)
  if (away === null || hours > 24 || (hours === 24 && /[1-9]/.test(`${minute}${second}${fraction}`))) return null
  const atMinute = midnight + (hours * 60 + Number(minute)) * minuteMs - away
  if (second === '60') return leapSecond(atMinute)
  return atMinute + Number(second) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3))
}

function isDay(midnight: number, month: number, day: number): boolean {
  const date = new Date(midnight)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

/** Offsets in use lie between -12:00 and +14:00; what is beyond a day is none. */
function offsetMs(zone = 'Z'): number | null {
  if (zone === 'Z' || zone === 'z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', ''))
  return hours > 23 ? null : (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * minuteMs
}

/** A leap second is the last of a day in UTC. Unix time has none: it is read as the last millisecond before the next day. */
function leapSecond(atMinute: number): number | null {
  return (atMinute + minuteMs) % dayMs === 0 ? atMinute + minuteMs - 1 : null
}
