import { FatalError } from './errors.ts'

/** A form of something that is kept: what it is called in a sentence, the newest one that is known here, and the way back for good. */
export type Form = { what: string; newest?: number; goBack?: string }

/**
 * Passes what was kept through, unless a later version of this software wrote it: that is not damaged, may not be read by
 * half, and must not be replaced. A form is the number in `version`; what names none is of the first.
 * @throws FatalError `configuration` that says which version to deploy.
 */
export function ofKnownForm(kept: unknown, { what, newest = 1, goBack }: Form): unknown {
  const version = (kept as { version?: unknown } | null | undefined)?.version
  if (typeof version !== 'number' || version <= newest) return kept
  const back = goBack === undefined ? '' : `; to go back for good, ${goBack}`
  throw new FatalError(
    `The ${what} was written by a later version of this software (form ${version}; form ${newest} is known here). ` +
      `Deploy that version again${back}.`,
    { code: 'configuration' },
  )
}
