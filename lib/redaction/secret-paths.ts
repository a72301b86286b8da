/** Where the walk through a record stands with regard to the secret paths: a state of a finite automaton. */
export type PathState = {
  /** All scalars below this place are secret. */
  readonly secret: boolean
  /** The state below a key that some path names. */
  readonly next: ReadonlyMap<string, PathState>
  /** The state below any other key. */
  readonly other: PathState
}

/**
 * Compiles secret paths into an automaton, so that a record costs one look-up per key whatever the number of paths.
 * Paths match at any depth: a declaration that leaves out an outer object hides too much rather than too little.
 */
export function compilePaths(paths: readonly string[]): PathState {
  const patterns = paths.map(parsePath)
  const names = [...new Set(patterns.flat())].filter((name) => name !== '*')
  const begin = patterns.map((_, pattern): Reached => ({ pattern, matched: 0 }))
  const states = new Map<string, PathState>()

  const stateOf = (reached: Reached[]): PathState => {
    const id = reached.map(({ pattern, matched }) => `${pattern}:${matched}`).join()
    const known = states.get(id)
    if (known) return known
    const next = new Map<string, PathState>()
    const state = {
      secret: reached.some(({ pattern, matched }) => matched === patterns[pattern]?.length),
      next,
      other: undefined as unknown as PathState,
    }
    states.set(id, state)
    const below = (name: string | null) =>
      [...begin, ...reached].flatMap(({ pattern, matched }) => {
        const wanted = patterns[pattern]?.[matched]
        return wanted !== undefined && (wanted === '*' || wanted === name) ? [{ pattern, matched: matched + 1 }] : []
      })
    for (const name of names) next.set(name, stateOf(below(name)))
    state.other = stateOf(below(null))
    return state
  }
  return stateOf([])
}

/** A pattern of which the first `matched` keys lie on the way to a place. */
type Reached = { pattern: number; matched: number }

/** The keys of a path. Arrays need no name, and `x.*` means all below x, even when x is no object. */
function parsePath(path: string): string[] {
  const keys = path.split('.').flatMap((part) => part.replaceAll('[]', '') || [])
  while (keys.length > 1 && keys.at(-1) === '*') keys.pop()
  return keys
}
