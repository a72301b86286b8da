import * as z from 'zod'
import { integer, resource } from '../fields.ts'

/** A credit limit for one user (§2.11). Bounds of the value are "not shown": whoever sets limits decides on them. */
export const CreditLimitEntry = resource({
  email: z.string().min(1).describe('E-mail address that identifies the user (§2.11).'),
  limit: integer().describe('Credit limit, an integer (§2.11).'),
})
export type CreditLimitEntry = z.infer<typeof CreditLimitEntry>

/** A user whose limit could not be set (§2.11). */
const CreditLimitError = resource({
  email: z.string().describe('E-mail address of the entry that failed (§2.11).'),
  error: z.string().describe('Why the limit could not be set (§2.11).'),
})

/** What the platform answers to a batch of limits (§4.2, endpoint 12; §4.3 rule 2). */
export const CreditLimitsResult = resource({
  updated: z.array(CreditLimitEntry).describe('Users whose limit was set (§4.2).'),
  errors: z.array(CreditLimitError).describe('Users whose limit could not be set (§4.2).'),
})
export type CreditLimitsResult = z.infer<typeof CreditLimitsResult>
