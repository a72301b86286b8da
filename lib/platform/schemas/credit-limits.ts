import * as z from 'zod'
import { integer, resource } from '../fields.ts'

/** A credit limit for one user (§2.11). Bounds of the value are "not shown": whoever sets limits decides on them. */
export const CreditLimitEntry = resource(() => ({
  email: z.string().min(1).describe('E-mail address that identifies the user (§2.11).'),
  limit: integer().describe('Credit limit, an integer (§2.11).'),
}))
export type CreditLimitEntry = z.infer<typeof CreditLimitEntry>

// Some writers quote their numbers. Up to 16 digits, since more are no integer that a double holds.
const quotedInteger = z
  .string()
  .regex(/^\s*-?\d{1,16}\s*$/)
  .transform(Number)
  .pipe(integer())

/** A row of `updated`: a user whose limit was set (§2.11). */
export const UpdatedRow = resource(() => ({
  email: CreditLimitEntry.shape.email,
  limit: z.union([integer(), quotedInteger]).describe('Limit that was set, an integer (§2.11); it may come as text.'),
}))

/** A row of `errors`: a user whose limit could not be set (§2.11). */
export const ErrorRow = resource(() => ({
  email: CreditLimitEntry.shape.email,
  error: z
    .unknown()
    .optional()
    .describe('Why the limit could not be set (§2.11): a text, or whatever is told in its place.'),
}))

/**
 * The answer to a batch of limits (§4.2, endpoint 12; §4.3 rule 2). Its rows are left as they came, to be judged one by
 * one (`UpdatedRow`, `ErrorRow`): an odd one says nothing about the others. A list that is empty may be null, or left out.
 */
export const CreditLimitsResult = resource(() => ({
  updated: z.unknown().optional().describe('Users whose limit was set (§4.2).'),
  errors: z.unknown().optional().describe('Users whose limit could not be set (§4.2).'),
})).refine(({ updated, errors }) => Array.isArray(updated) || Array.isArray(errors), {
  message: 'is no list, and neither is "errors"',
  path: ['updated'],
})
export type CreditLimitsResult = z.infer<typeof CreditLimitsResult>
