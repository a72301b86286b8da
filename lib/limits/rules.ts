/** Bounds that the platform does not publish (§8), so that the operator sets them. */
export type LimitRules = {
  /** The largest limit that may be set. */
  readonly maxLimit: number
  /** The most changes that one file or plan may make. */
  readonly maxChanges: number
}

/** No bound on a limit but what a double holds exactly, and 10,000 changes at once. */
export const defaultRules: LimitRules = { maxLimit: Number.MAX_SAFE_INTEGER, maxChanges: 10_000 }

/** Why a value is no limit, or null when it is one. Zero is a limit; null, an empty text and a missing value are not. */
export function faultOfLimit(value: unknown, { maxLimit }: Pick<LimitRules, 'maxLimit'>): string | null {
  if (value === null || value === undefined || value === '') return 'the limit is missing'
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || Object.is(value, -0)) {
    return 'the limit is not an integer from 0 up to 2^53 - 1'
  }
  return value > maxLimit ? `the limit is above ${maxLimit}, the largest that is allowed` : null
}
