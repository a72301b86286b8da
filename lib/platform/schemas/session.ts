import * as z from 'zod'
import { freeForm, id, integer, openEnum, resource, timeText, unixMs } from '../fields.ts'

// An enumeration of which only single values were "seen" has no unknown values: it is a plain string, never drift.
function doc(meaning: string) {
  return `${meaning} (§2.3).`
}

/** A token usage object; `scope` ends the meaning of each number where it is not of the session alone. */
function tokenUsage(scope = '') {
  function count(meaning: string) {
    return z
      .number()
      .nullish()
      .describe(doc(`${meaning}${scope}`))
  }
  return resource(() => ({
    inputTokens: count('Input tokens'),
    outputTokens: count('Output tokens'),
    cacheCreationTokens: count('Tokens written to the prompt cache'),
    cacheReadTokens: count('Tokens read from the prompt cache'),
    thinkingTokens: count('Thinking tokens'),
    platformCredits: count('Platform credits'),
  }))
}

/** What a session consumed (§2.3, Token usage object). */
export const TokenUsage = tokenUsage()
export type TokenUsage = z.infer<typeof TokenUsage>

/** A label of a session (§2.3, tags). */
export const SessionTag = resource(() => ({
  name: z.string().nullish().describe(doc('Name of the tag')),
  metadata: freeForm().nullish().describe(doc('Metadata of the tag; contents not shown')),
}))
export type SessionTag = z.infer<typeof SessionTag>

/** The settings that the enterprise can set defaults for (§2.10, sessionDefaultSettings: "same types as 2.3"). */
export function defaultableSettings() {
  return {
    model: z.string().nullish().describe(doc('Model id')),
    reasoningEffort: z.string().nullish().describe(doc('Reasoning effort; one value seen: none')),
    interactionMode: z.string().nullish().describe(doc('Interaction mode; one value seen: auto')),
    autonomyLevel: z.string().nullish().describe(doc('Autonomy level; one value seen: off')),
    autonomyMode: z.string().nullish().describe(doc('Autonomy mode; one value seen: normal')),
    specModeModel: z.string().nullish().describe(doc('Model id for specification mode')),
    specModeReasoningEffort: z
      .string()
      .nullish()
      .describe(doc('Reasoning effort for specification mode; one value seen: none')),
  }
}

/** Settings of a session as the platform answers them (§2.3). Which of them are required is "not shown". */
export const SessionSettings = resource(() => ({
  ...defaultableSettings(),
  providerLock: z.string().nullish().describe(doc('Identifier of the provider that the session is locked to')),
  providerLockTimestamp: timeText().nullish().describe(doc('Time the provider lock was set; format not shown')),
  apiProviderLock: z.string().nullish().describe(doc('Identifier of the API provider that the session is locked to')),
  assistantActiveTimeMs: z.number().nullish().describe(doc('Time the assistant was active, milliseconds')),
  tokenUsage: TokenUsage.nullish().describe(doc('Token usage of the session itself; in responses only')),
  inclusiveTokenUsage: tokenUsage(', child sessions included')
    .nullish()
    .describe(doc('Token usage of the session and its child sessions; in responses only')),
  childInclusiveTokenUsageBySessionId: freeForm()
    .nullish()
    .describe(doc('Token usage of child sessions, children of their own included, by session id; contents not shown')),
  archivedAt: timeText().nullish().describe(doc('When the session was archived; format not shown')),
  tags: z.array(SessionTag).nullish().describe(doc('Tags of the session')),
  enabledToolIds: z.array(z.string()).nullish().describe(doc('Ids of the tools that are enabled')),
  disabledToolIds: z.array(z.string()).nullish().describe(doc('Ids of the tools that are disabled')),
}))
export type SessionSettings = z.infer<typeof SessionSettings>

/** Settings as a request carries them: all of §2.3 but the two token usages, which the platform alone writes. */
export const SessionSettingsInput = resource(() => ({
  ...SessionSettings.shape,
  tokenUsage: z.never('is in responses only').optional().describe(doc('Must be left out of a request')),
  inclusiveTokenUsage: z.never('is in responses only').optional().describe(doc('Must be left out of a request')),
}))
export type SessionSettingsInput = z.infer<typeof SessionSettingsInput>

/** The values of a session's status that §3 lists. */
export const sessionStatuses = ['idle', 'pending', 'running'] as const

/** An agent session that runs on a registered computer (§2.2). */
export const Session = resource(() => ({
  sessionId: id().describe('Session id (§2.2).'),
  status: openEnum(...sessionStatuses).describe('Current execution status: idle, pending or running (§2.2, §3).'),
  messageCount: integer().describe('Number of messages in the session (§2.2).'),
  createdAt: unixMs().describe('When the session was created (§2.2).'),
  updatedAt: unixMs().describe('When the session was last updated (§2.2).'),
  completedAt: unixMs().nullish().describe('When the session was completed (§2.2).'),
  title: z.string().nullish().describe('Title of the session (§2.2).'),
  computerId: z.string().nullish().describe('Id of the connected computer; joins to computers (§2.2).'),
  sessionSettings: SessionSettings.nullish().describe('Settings of the session (§2.2, §2.3).'),
}))
export type Session = z.infer<typeof Session>
