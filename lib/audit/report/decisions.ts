import type { WatchedChange } from '../changes/history.ts'
import { mostSevere, type WatchMatch } from '../changes/watch.ts'
import type { Severity } from '../trail/finding.ts'

/** What somebody decided about one setting in one revision: a value, items of a list, or several settings in one place. */
export type Decision = {
  path: string
  kind: WatchedChange['kind']
  /** `value`: one change. `items`: items of one list. `settings`: settings below `path`. */
  form: 'value' | 'items' | 'settings'
  /** All changes that it is made of. */
  changes: readonly WatchedChange[]
  /** The rules that it matches, each once. */
  matches: readonly WatchMatch[]
  /** The highest of their severities. */
  severity: Severity | null
}

/** So many settings of one place that changed in the same way are one decision. */
const together = 3

/**
 * Puts the changes of a revision together to decisions: the items of a list to one, and settings in one place that changed
 * in the same way, and match the same rules, to one. No change is lost, and none is in two.
 */
export function decisionsOf(changes: readonly WatchedChange[]): Decision[] {
  const byPath = groups(changes, ({ path }) => path).map(decisionOfPath)
  const ofPlace = ({ path, kind, matches }: Decision) =>
    JSON.stringify([segmentsOf(path)[0], kind, matches.map(({ id }) => id)])
  return groups(byPath, ofPlace).flatMap((some) => (some.length < together ? some : [joined(some)]))
}

function groups<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  return [...Map.groupBy(items, keyOf).values()]
}

function decisionOfPath(changes: WatchedChange[]): Decision {
  const [first] = changes as [WatchedChange]
  const isItem = first.itemsAfter !== undefined && !/\[id=.*\]$/.test(first.path)
  const form = changes.length > 1 || isItem ? 'items' : 'value'
  return decision({ path: first.path, form, changes })
}

function joined(decisions: readonly Decision[]): Decision {
  const path = commonPlace(decisions.map(({ path }) => path))
  return decision({ path, form: 'settings', changes: decisions.flatMap(({ changes }) => changes) })
}

function decision(parts: Pick<Decision, 'path' | 'form' | 'changes'>): Decision {
  const { changes } = parts
  const kinds = new Set(changes.map(({ kind }) => kind))
  const [kind] = kinds.size === 1 ? [...kinds] : []
  const matches = [...new Map(changes.flatMap(({ matches }) => matches).map((match) => [match.id, match])).values()]
  return { ...parts, kind: kind ?? 'changed', matches, severity: mostSevere(matches.map(({ severity }) => severity)) }
}

/** The parts of a path, each with the dot or bracket that it begins with. A quoted name is one part. */
function segmentsOf(path: string): string[] {
  return path.match(/^[^.[]+|\["(?:[^"\\]|\\.)*"\]|\[[^\]]*\]|\.[^.[]+/g) ?? [path]
}

/** The place that all paths lie in; the settings as a whole have none. */
function commonPlace(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map(segmentsOf)
  const same = first.findIndex((part, at) => others.some((other) => other[at] !== part))
  return (same === -1 ? first : first.slice(0, same)).join('')
}
