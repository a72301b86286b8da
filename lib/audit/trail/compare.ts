import { draftFinding, type FindingDraft, type Occasion, revisionsText } from './finding.ts'
import type { Range, RevisionIndex } from './revision-index.ts'

/**
 * What a full list of the platform's revisions says against the recorded ones: vanished, returned, and missing numbers.
 * What an earlier finding named is not named again.
 */
export function compareHistory(
  { revisions, vanished, gaps }: RevisionIndex,
  seen: ReadonlySet<number>,
  occasion: Occasion,
): FindingDraft[] {
  const recorded = [...revisions.keys()]
  const gone = recorded.filter((revision) => !seen.has(revision) && !vanished.has(revision))
  const back = [...vanished].filter((revision) => seen.has(revision))
  const holes = holesBetween([...recorded, ...seen]).filter(
    ([from, to]) => !gaps.some(([first, last]) => first <= from && to <= last),
  )
  return [
    ...rowsOf(gone).map(([revision, revisionTo]) =>
      draftFinding('revision_vanished', occasion, {
        revision,
        revisionTo,
        ...(revision === revisionTo ? { recordedAs: revisions.get(revision)?.sequence } : {}),
        message:
          `The platform no longer lists ${revisionsText(revision, revisionTo)}. ` +
          "What was recorded is the evidence; ask the platform's operator why.",
      }),
    ),
    ...rowsOf(back).map(([revision, revisionTo]) =>
      draftFinding('revision_returned', occasion, {
        revision,
        revisionTo,
        message: `The platform lists ${revisionsText(revision, revisionTo)} again.`,
      }),
    ),
    ...holes.map(([revision, revisionTo]) =>
      draftFinding('revision_gap', occasion, {
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

/** Numbers as rows of consecutive ones: first and last of each. */
function rowsOf(numbers: number[]): Range[] {
  const rows: Range[] = []
  for (const number of numbers.toSorted(ascending)) {
    const last = rows.at(-1)
    if (last && last[1] + 1 === number) last[1] = number
    else rows.push([number, number])
  }
  return rows
}

function holesBetween(numbers: number[]): Range[] {
  return rowsOf([...new Set(numbers)]).flatMap(([from], at, rows): Range[] => {
    const before = rows[at - 1]
    return before ? [[before[1] + 1, from - 1]] : []
  })
}
