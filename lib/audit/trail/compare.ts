import { draftFinding, type FindingDraft, type ObservedIn, revisionsText } from './finding.ts'
import type { RevisionIndex, RevisionRange } from './revision-index.ts'

/** What a list showed, and where it was observed. */
export type ObservedList = ObservedIn & { seen: ReadonlySet<number> }

/**
 * Compares a full list of the platform's revisions with the recorded ones: findings on vanished and returned numbers. No
 * finding repeats an earlier one.
 */
export function compareHistory({ revisions, vanished }: RevisionIndex, list: ObservedList): FindingDraft[] {
  const { seen, ...observedIn } = list
  const gone = [...revisions.keys()].filter((revision) => !seen.has(revision) && !vanished.has(revision))
  const back = [...vanished].filter((revision) => seen.has(revision))
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
  ]
}

/** The numbers that are missing between listed or recorded ones, as far as no finding has named them. */
export function missingRevisions(
  { revisions, gaps }: RevisionIndex,
  { seen }: Pick<ObservedList, 'seen'>,
): RevisionRange[] {
  return gapsBetween([...revisions.keys(), ...seen]).filter(
    ([from, to]) => !gaps.some(([first, last]) => first <= from && to <= last),
  )
}

/**
 * Findings on missing numbers: as history where the revision after them was among the first `oldEntries` entries, which
 * the first look at the list brought. Nobody can say any more what became of them, and that they are missing is no news.
 */
export function gapFindings(
  { revisions }: RevisionIndex,
  { missing, oldEntries }: { missing: readonly RevisionRange[]; oldEntries: number },
  observedIn: ObservedIn,
): FindingDraft[] {
  const isOld = (revision: number) => {
    const { earlier = [], sequence = Number.POSITIVE_INFINITY } = revisions.get(revision) ?? {}
    return (earlier[0] ?? sequence) <= oldEntries
  }
  return missing.map(([revision, revisionTo]) =>
    isOld(revisionTo + 1)
      ? draftFinding('history_gap', observedIn, {
          revision,
          revisionTo,
          message:
            `The platform did not list ${revisionsText(revision, revisionTo)} when this record began; ` +
            'what was before that, it can not show.',
        })
      : draftFinding('revision_gap', observedIn, {
          revision,
          revisionTo,
          message:
            `The platform lists the revisions around, but not ${revisionsText(revision, revisionTo)}. ` +
            "Look whether it is in quarantine; otherwise ask the platform's operator.",
        }),
  )
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
