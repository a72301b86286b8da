import { findAssigned } from './assignments.ts'
import { findEncoded } from './encoded.ts'
import { findForms, findPrivateKeys } from './forms.ts'
import type { ChangedText } from './json-text.ts'
import {
  hasAt,
  hasDashes,
  hasElement,
  hasSign,
  hasSpace,
  hasToken,
  hasUrl,
  isHarmless,
  isUuid,
  lookAt,
} from './look.ts'
import { findElements, findWrittenPairs } from './markup.ts'
import { findGluedPasswords, findOptions } from './options.ts'
import { type Fingerprint, replaceSpans, type Span } from './spans.ts'
import { findSchemes, findSpoken, mayBeSpoken } from './spoken.ts'
import { findHookSegments, findUserInfo } from './urls.ts'

/** Takes secrets out of a text and leaves what stands around them. */
export type TextRedactor = (text: string) => string

const shortest = 5
const longestKept = 64
const longestWord = 10
const textsKept = 10_000

/** Takes secrets out of texts. `insideJson` redacts what is JSON in a text by its structure. */
export function createTextRedactor(fingerprint: Fingerprint, insideJson: (text: string) => ChangedText): TextRedactor {
  // Model ids and the like come again in each record. The parser shares short words, so they are looked up quickest.
  const clean = new Set<string>()
  const once = (text: string): string => {
    const { text: changed, isAllJson } = mayHoldJson.test(text) ? insideJson(text) : { text, isAllJson: false }
    return isAllJson ? changed : replaceSpans(changed, spansIn(changed), fingerprint)
  }
  const keepClean = (text: string, longest: number): string => {
    if (text.length <= longest && clean.size < textsKept) clean.add(text)
    return text
  }
  return (text) => {
    if (text.length < shortest || (text.length <= longestWord && clean.has(text)) || isUuid(text)) return text
    const reasons = lookAt(text)
    const isPlain = (reasons & ~hasSpace) === 0 && !(reasons === hasSpace && mayBeSpoken.test(text))
    if (isPlain) return keepClean(text, longestWord)
    if (clean.has(text) || isHarmless(text)) return text
    const result = untilStable(text, once)
    return result === text ? keepClean(text, longestKept) : result
  }
}

const mayHoldJson = /[{[]\s{0,80}["{[]/
const passesAtMost = 8

/** A replacement can bring another to light, so a text is looked at until nothing changes; each time there is less. */
function untilStable(text: string, once: (text: string) => string): string {
  let current = text
  for (let pass = 0; pass < passesAtMost; pass++) {
    const next = once(current)
    if (next === current) return next
    current = next
  }
  return current
}

function spansIn(text: string): Span[] {
  const reasons = lookAt(text)
  const spans: Span[] = []
  if (reasons & hasToken) findForms(text, spans)
  if (reasons & hasDashes) {
    findPrivateKeys(text, spans)
    findOptions(text, spans)
    findGluedPasswords(text, spans)
  }
  if (reasons & hasSign) {
    findAssigned(text, spans)
    findWrittenPairs(text, spans)
  }
  if (reasons & hasAt) findUserInfo(text, spans)
  if (reasons & hasUrl) findHookSegments(text, spans)
  if (text.includes('%3') || text.includes('%2')) findEncoded(text, spans)
  if (reasons & hasSpace) {
    findSchemes(text, spans)
    findSpoken(text, spans)
  }
  if (reasons & hasElement) findElements(text, spans)
  return spans
}
