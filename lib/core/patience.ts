/** How long a run may still wait at the word of a server: a budget of its own, whatever the server dictates. */
export type Patience = { remainingMs(): number; spend(ms: number): void }

/** A budget of `ms` milliseconds for all such waits together. */
export function createPatience(ms: number): Patience {
  let leftMs = ms
  return {
    remainingMs: () => leftMs,
    spend: (spentMs) => {
      leftMs = Math.max(0, leftMs - spentMs)
    },
  }
}
