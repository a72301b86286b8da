import { hash32, pick, unit } from '../random.ts'

const texts = [
  'Please fix the failing test.',
  'I read the module and found the cause.',
  'exit code 0',
  'Done: all tests pass. ✓',
] as const

/** What makes a message: its session's draw, its place in the session, and the session's time of creation. */
type MessagePlace = { sessionId: string; key: number; index: number; createdAt: number }

/** The id of a session's n-th message. */
export function messageIdOf(sessionId: string, index: number): string {
  return `${sessionId}:m${index}`
}

/** The place that an id of `messageIdOf` speaks of. */
export function messageIndexOf(messageId: string): number {
  return Number(/:m(\d+)$/.exec(messageId)?.[1] ?? Number.NaN)
}

/** A message as the API sends it (§2.4). */
export function messageOf({ sessionId, key, index, createdAt }: MessagePlace): Record<string, unknown> {
  const has = (salt: number, share: number) => unit(key, salt, index) < share
  const role = index === 0 ? 'user' : index % 11 === 10 ? 'system' : pick(['assistant', 'tool', 'user'], index - 1)
  const at = createdAt + index * 5_000
  const assistant = role === 'assistant'
  return {
    id: messageIdOf(sessionId, index),
    role,
    content: contentOf(key, index),
    createdAt: at,
    updatedAt: at + 1_000,
    parentId: index > 0 ? messageIdOf(sessionId, index - 1) : undefined,
    visibility: has(1, 0.6) ? pick(['both', 'llm_only', 'user_only'], hash32(key, 2, index)) : undefined,
    vendorMessageId: assistant && has(3, 0.7) ? `vm_${hash32(key, 4, index)}` : undefined,
    vendorPhase: assistant
      ? has(5, 0.2)
        ? null
        : pick(['commentary', 'final_answer'], hash32(key, 6, index))
      : undefined,
    vendorEncryptedContent: assistant && has(7, 0.2) ? Buffer.from(`sealed ${index}`).toString('base64') : undefined,
    vendorReasoningId: assistant && has(8, 0.3) ? `vr_${hash32(key, 9, index)}` : undefined,
    vendorReasoningSummary: assistant && has(8, 0.3) ? 'Looked for the cause first.' : undefined,
    altVendorThoughtSignature: assistant && has(10, 0.05) ? 'c2lnbmF0dXJl' : undefined,
    chatCompletionReasoningField:
      assistant && has(11, 0.1) ? pick(['reasoning', 'reasoning_content'], index) : undefined,
    chatCompletionReasoningContent: assistant && has(11, 0.1) ? 'First the test, then the code.' : undefined,
    isUserVisible: has(12, 0.7) ? role !== 'system' : undefined,
    isError: role === 'tool' && has(13, 0.4) ? has(14, 0.3) : undefined,
  }
}

function contentOf(key: number, index: number): unknown[] {
  const text = {
    type: 'text',
    text: pick(texts, hash32(key, 20, index)),
    ...(unit(key, 21, index) < 0.7 ? { id: `b${index}` } : {}),
  }
  // Block types other than text are "not shown" (§2.4): one that nobody declared must survive.
  return unit(key, 22, index) < 0.15
    ? [text, { type: 'tool_use', id: `t${index}`, name: 'read', input: { path: 'README.md' } }]
    : [text]
}
