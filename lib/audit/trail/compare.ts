import { draftFinding, type FindingDraft, type ObservedIn, revisionsText } from './finding.ts'
import type { RevisionIndex, RevisionRange } from './revision-index.ts'

/**
 * Compares a full list of the platform's revisions with the recorded ones: findings on vanished, returned and missing
 * numbers. No finding repeats an earlier one.
 */
export function compareHistory(
  { revisions, vanished, gaps }: RevisionIndex,
  seen: ReadonlySet<number>,
  observedIn: ObservedIn,
): FindingDraft[] {
  const recorded = [...revisions.keys()]
  const gone = recorded.filter((revision) => !seen.has(revision) && !vanished.has(revision))
  const back = [...vanished].filter((revision) => seen.has(revision))
  const missing = gapsBetween([...recorded, ...seen]).filter(
    ([from, to]) => !gaps.some(([first, last]) => first <= from && to <= last),
  )
  return [
    ...rangesOf(gone).map(([revision, revisionTo]) =>
      draftFinding('revision_vanished', observedIn, {
        revision,
        revisionTo,
        ...(revision === revisionTo ? { recordedAs: revisions.get(revision)?.sequence } : {}),
        message:
          `The platform no longer lists ${revisionsText(revision, revisionTo)}. ` +
          "What was recorded is the evidence; ask the platform's operator why.",
      }),
    ),
    ...rangesOf(back).map(([revision, revisionTo]) =>
      draftFinding('revision_returned', observedIn, {
        revision,
        revisionTo,
        message: `The platform lists ${revisionsText(revision, revisionTo)} again.`,
      }),
    ),
    ...missing.map(([revision, revisionTo]) =>
      draftFinding('revision_gap', observedIn, {
        revision,
        revisionTo,
        message:
          `The platform lists the revisions around, but not ${revisionsText(revision, revisionTo)}. ` +
          "Look whether it is in quarantine; otherwise ask the platform's operator.",
      }),
    ),
  ]
}

function ascending(a: number, b: number) {
  return a - b
}

/** Ranges of consecutive numbers, each with its first and its last. */
function rangesOf(numbers: number[]): RevisionRange[] {
  const ranges: RevisionRange[] = []
  for (const number of numbers.toSorted(ascending)) {
    const last = ranges.at(-1)
    if (last && last[1] + 1 === number) last[1] = number
    else ranges.push([number, number])
  }
  return ranges
}

function gapsBetween(numbers: number[]): RevisionRange[] {
  return rangesOf([...new Set(numbers)]).flatMap(([from], at, ranges): RevisionRange[] => {
    const before = ranges[at - 1]
    return before ? [[before[1] + 1, from - 1]] : []
  })
}
