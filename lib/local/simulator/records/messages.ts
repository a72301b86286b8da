import type { Life } from '../population.ts'
import { hash32, pick, unit } from '../random.ts'
import { contentOf, oddContentOf } from './blocks.ts'
import { changeThatAdded, changeThatEdited, type Plan } from './conversation.ts'
import { updatedAtOf } from './sessions.ts'

/** What makes a message: its session with the moments of its changes, and its number in the session. */
export type MessagePlace = {
  readonly sessionId: string
  readonly life: Life
  readonly plan: Plan
  readonly changes: readonly number[]
  readonly index: number
  /** The share of messages whose content has an odd form. */
  readonly odd: number
}

/** The id of a session's n-th message. */
export function messageIdOf(sessionId: string, index: number): string {
  return `${sessionId}:m${index}`
}

/** The number that an id of `messageIdOf` speaks of. */
export function messageIndexOf(messageId: string): number {
  return Number(/:m(\d+)$/.exec(messageId)?.[1] ?? Number.NaN)
}

/** A message as the API sends it (§2.4). */
export function messageOf(place: MessagePlace): Record<string, unknown> {
  const { sessionId, life, plan, index, odd } = place
  const { key } = life
  const has = (salt: number, share: number) => unit(key, salt, index) < share
  const role = index === 0 ? 'user' : index % 11 === 10 ? 'system' : pick(['assistant', 'tool', 'user'], index - 1)
  const edition = changeThatEdited(index, life, plan)
  return {
    id: messageIdOf(sessionId, index),
    role,
    content: has(32, odd) ? oddContentOf({ key, index }) : contentOf({ key, index, role, edition }),
    ...timesOf(place, edition),
    parentId: index > 0 ? messageIdOf(sessionId, index - 1) : undefined,
    visibility: has(1, 0.6) ? pick(['both', 'llm_only', 'user_only'], hash32(key, 2, index)) : undefined,
    ...(role === 'assistant' ? vendorFieldsOf(key, index) : {}),
    isUserVisible: has(12, 0.7) ? role !== 'system' : undefined,
    isError: role === 'tool' && has(13, 0.4) ? has(14, 0.3) : undefined,
  }
}

/** No message is newer than its session: those that began it lie within its first moment, others end with a change. */
function timesOf({ life, plan, changes, index }: MessagePlace, edition: number) {
  const change = changeThatAdded(index, plan)
  const share = (index + 1) / (plan.begun + 1)
  const first = updatedAtOf({ ...life, version: 0 })
  const createdAt =
    change === 0
      ? life.createdAt + Math.floor((first - life.createdAt) * share)
      : (changes[change - 1] as number) - ((plan.created - index) % 2)
  return { createdAt, updatedAt: edition > 0 ? (changes[edition - 1] as number) : createdAt }
}

function vendorFieldsOf(key: number, index: number): Record<string, unknown> {
  const has = (salt: number, share: number) => unit(key, salt, index) < share
  return {
    vendorMessageId: has(3, 0.7) ? `vm_${hash32(key, 4, index)}` : undefined,
    vendorPhase: has(5, 0.2) ? null : pick(['commentary', 'final_answer'], hash32(key, 6, index)),
    vendorEncryptedContent: has(7, 0.2) ? Buffer.from(`sealed ${index}`).toString('base64') : undefined,
    vendorReasoningId: has(8, 0.3) ? `vr_${hash32(key, 9, index)}` : undefined,
    vendorReasoningSummary: has(8, 0.3) ? 'Looked for the cause first.' : undefined,
    altVendorThoughtSignature: has(10, 0.05) ? 'c2lnbmF0dXJl' : undefined,
    chatCompletionReasoningField: has(11, 0.1) ? pick(['reasoning', 'reasoning_content'], index) : undefined,
    chatCompletionReasoningContent: has(11, 0.1) ? 'First the test, then the code.' : undefined,
  }
}
