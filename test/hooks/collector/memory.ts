import type { Claim, HookClaims, HookObjects } from '../../../lib/hooks/collector/ports.ts'

/** Claims in memory, with the same promises as those in DynamoDB. */
export function memoryClaims(): HookClaims & { standing: Map<string, Claim> } {
  const standing = new Map<string, Claim>()
  return {
    standing,
    claim: async (id, claim, { instead }) => {
      const found = standing.get(id)
      const mayReplace = found?.delivery === instead?.delivery && found?.place === instead?.place
      if (found && !mayReplace) return found
      standing.set(id, claim)
      return null
    },
  }
}

/** The collected objects in memory. */
export function memoryObjects(): HookObjects & { stored: Map<string, Uint8Array> } {
  const stored = new Map<string, Uint8Array>()
  return {
    stored,
    write: async (key, bytes) => void stored.set(key, bytes),
    read: async (key) => stored.get(key) ?? null,
    keysAfter: async (place, count) =>
      [...stored.keys()]
        .filter((key) => key > place)
        .sort()
        .slice(0, count),
  }
}
