import { FatalError } from './errors.ts'

/** What a later version wrote, where work must end instead of going on without it. */
export class LaterFormError extends FatalError {}

/** A form of something that is kept: what it is called in a sentence, the newest one that is known here, and the way back for good. */
export type Form = { what: string; newest?: number; goBack?: string }

/**
 * Passes what was kept through, unless a later version of this software wrote it: that is not damaged, may not be read by
 * half, and must not be replaced. A form is the number in `version`; what names none is of the first.
 * @throws LaterFormError `configuration` that says which version to deploy.
 */
export function ofKnownForm(kept: unknown, form: Form): unknown {
  const later = laterForm(kept, form)
  if (later === null) return kept
  throw new LaterFormError(later, { code: 'configuration' })
}

/** The sentence that says so of what a later version wrote; null of all else. For those who must go on with the rest. */
export function laterForm(kept: unknown, { what, newest = 1, goBack }: Form): string | null {
  const version = (kept as { version?: unknown } | null | undefined)?.version
  if (typeof version !== 'number' || version <= newest) return null
  return ofLaterVersion(`The ${what}`, { form: `form ${version}; form ${newest} is known here`, goBack })
}

/** The sentence about something that a later version wrote, whose form is told by other means than a number in it. */
export function ofLaterVersion(what: string, { form, goBack }: { form: string; goBack?: string | undefined }): string {
  const back = goBack === undefined ? '' : `; to go back for good, ${goBack}`
  return `${what} was written by a later version of this software (${form}). Deploy that version again${back}.`
}
