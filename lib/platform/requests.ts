import * as z from 'zod'
import { lazyStrictObject } from '../core/schema.ts'
import { CreditLimitEntry } from './schemas/credit-limits.ts'
import { FileAttachment, ImageAttachment, MessageSubmission } from './schemas/message.ts'
import { SessionSettingsInput } from './schemas/session.ts'

/** Rules of requests (§4, §8), checked before anything is sent. */

const cursor = z.string().min(1).optional()
const computerId = z.string().min(1).optional()

/** Parameters of the lists that page by cursor (§4.1). */
export const ListQuery = lazyStrictObject(() => ({ limit: z.int().min(1).max(100).optional(), cursor }))
export type ListQuery = z.infer<typeof ListQuery>

/** Endpoint 1: `startAfter` is the id of the last report seen; the limit has no documented maximum. */
export const ReadinessQuery = lazyStrictObject(() => ({
  repoId: z.string().min(1).optional(),
  limit: z.int().positive().optional(),
  startAfter: z.string().min(1).optional(),
}))
export type ReadinessQuery = z.infer<typeof ReadinessQuery>

/** Endpoint 3; `computerId` asks that computer directly. */
export const SessionsQuery = ListQuery.extend({ computerId })
export type SessionsQuery = z.infer<typeof SessionsQuery>

/** Endpoint 7. The filter takes three of the four roles that messages have. */
export const MessagesQuery = SessionsQuery.extend({ role: z.enum(['user', 'assistant', 'tool']).optional() })
export type MessagesQuery = z.infer<typeof MessagesQuery>

/** Endpoints 5 and 9. */
export const ComputerQuery = lazyStrictObject(() => ({ computerId }))
export type ComputerQuery = z.infer<typeof ComputerQuery>

/** Endpoint 4: the computer to connect, and the working directory on it. */
export const NewSession = lazyStrictObject(() => ({
  computerId: z.string().min(1),
  cwd: z.string().min(1).max(4096).optional(),
  sessionSettings: SessionSettingsInput.optional(),
}))
export type NewSession = z.infer<typeof NewSession>

/** Endpoint 6. Whether the settings are merged or replaced is "not shown" (§4.3 rule 5). */
export const SessionChange = lazyStrictObject(() => ({ sessionSettings: SessionSettingsInput.optional() }))
export type SessionChange = z.infer<typeof SessionChange>

/**
 * Endpoint 8. A member that §2.5 does not know is refused: a misspelt `computerId` would send the message to another
 * computer than the one meant.
 */
export const NewMessage = lazyStrictObject(() => ({
  ...MessageSubmission.shape,
  images: z.array(z.strictObject(ImageAttachment.shape)).optional(),
  files: z.array(z.strictObject(FileAttachment.shape)).optional(),
}))
export type NewMessage = z.infer<typeof NewMessage>

/** Endpoint 12: 1 to 100 entries. A limit is an integer from 0 up that a double holds exactly. */
export const CreditLimitChanges = lazyStrictObject(() => ({
  users: z
    .array(
      z.strictObject({
        email: CreditLimitEntry.shape.email.regex(/^[^\s@]+@[^\s@]+$/, 'is no e-mail address'),
        limit: CreditLimitEntry.shape.limit.min(0),
      }),
    )
    .min(1)
    .max(100),
}))
export type CreditLimitChanges = z.infer<typeof CreditLimitChanges>
