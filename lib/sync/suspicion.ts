import { requiredFields } from '../streams/extract.ts'
import { keyNamesOf } from '../streams/keys.ts'
import type { Stream } from '../streams/stream.ts'
import type { Counts } from './checkpoint.ts'
import { tooDeep } from './validate.ts'

/** What is always believed, and above that the share of all. */
const alwaysAllowed = 10
const allowedShare = 0.2

/** Keys that the list no longer shows, and how many there were: those known before the scan, and those it found itself. */
export type Missing = { known: number; ofKnown: number; found: number; ofFound: number }

/** A scan that has read its list, as it is judged. */
export type Read = { stream: Stream; counts: Counts; unkeyed: number; missing: Missing }

/** Why nothing may be deleted for what a scan found; null when it may. What can be used is published in any case. */
export function suspicionOf(read: Read): string | null {
  const reasons = [setAside(read), ...oddFields(read), ...tooManyMissing(read)]
  const said = reasons.filter((reason) => reason !== null)
  return said.length === 0 ? null : `${said.join('; ')}: nothing was deleted${nextFor(read)}`
}

function nextFor({ stream, missing: { known, found } }: Read): string {
  return known + found === 0 ? '' : `; if it is right, run "platform-sync approve ${stream.name}"`
}

function isMuch(count: number, all: number): boolean {
  return count > alwaysAllowed && count > all * allowedShare
}

/** Much, or all that there is. */
function breaksTheStream(count: number, all: number): boolean {
  return count > 0 && (count >= all || isMuch(count, all))
}

function setAside({ stream, counts, unkeyed }: Read): string | null {
  const { quarantined, received } = counts
  if (!breaksTheStream(quarantined, received)) return null
  const why = [
    ...(unkeyed > 0 ? [`${unkeyed} without a usable ${keyNamesOf(stream)}`] : []),
    ...(quarantined > unkeyed ? [`${quarantined - unkeyed} ${tooDeep}`] : []),
  ]
  return `${quarantined} of ${received} records are in quarantine (${why.join(', ')})`
}

const fieldsTold = 3

function oddFields({ stream, counts }: Read): string[] {
  const readable = counts.received - counts.quarantined
  const required = requiredFields(stream)
  const broken = Object.entries(counts.invalid)
    .filter(([field, records]) => required.has(field) && breaksTheStream(records, readable))
    .sort(([, a], [, b]) => b - a)
  const told = broken
    .slice(0, fieldsTold)
    .map(([field, records]) => `${field} has an unforeseen form in ${records} of ${readable} records`)
  const left = broken.length - told.length
  return left > 0 ? [...told, `so have ${left} other fields`] : told
}

function tooManyMissing({ stream, unkeyed, missing }: Read): string[] {
  const { known, ofKnown, found, ofFound } = missing
  const share = `more than ${allowedShare * 100} %`
  const reasons: string[] = []
  if (isMuch(known, ofKnown)) reasons.push(`${known} of ${ofKnown} known records are missing from the list, ${share}`)
  if (isMuch(found, ofFound)) {
    reasons.push(`${found} of ${ofFound} records that this scan found are missing as the list was read anew, ${share}`)
  }
  if (reasons.length === 0 && known + found > 0 && unkeyed > 0) {
    reasons.push(
      `${known + found} records are missing, but ${unkeyed} came without a readable ${keyNamesOf(stream)} and may be among them`,
    )
  }
  return reasons
}
