import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { parseJson } from '../../lib/core/json.ts'
import { Computer } from '../../lib/platform/schemas/computer.ts'
import { CreditLimitEntry, CreditLimitsResult } from '../../lib/platform/schemas/credit-limits.ts'
import { EnterpriseControlRevision, EnterpriseSettings } from '../../lib/platform/schemas/enterprise-controls.ts'
import { Message, MessageReceipt, MessageSubmission } from '../../lib/platform/schemas/message.ts'
import { OrganizationUser } from '../../lib/platform/schemas/organization-user.ts'
import { ReadinessReport } from '../../lib/platform/schemas/readiness-report.ts'
import { Session, SessionSettings, SessionSettingsInput, TokenUsage } from '../../lib/platform/schemas/session.ts'
import { coreOf, layersOf } from '../../lib/streams/schema-layers.ts'
import { caseCollisions } from '../streams/fixtures.ts'

const resources = {
  Computer,
  CreditLimitEntry,
  CreditLimitsResult,
  EnterpriseControlRevision,
  EnterpriseSettings,
  Message,
  MessageReceipt,
  MessageSubmission,
  OrganizationUser,
  ReadinessReport,
  Session,
  SessionSettings,
  SessionSettingsInput,
}

/** Every object of a schema, itself included, with where it stands. */
function objectsOf(schema: z.ZodType, path: string): [string, z.ZodObject][] {
  const core = coreOf(schema)
  if (core instanceof z.ZodArray) return objectsOf(core.element as z.ZodType, `${path}[]`)
  if (core instanceof z.ZodRecord) return objectsOf(core.valueType as z.ZodType, `${path}.*`)
  if (!(core instanceof z.ZodObject)) return []
  return [
    [path, core],
    ...Object.entries(core.shape).flatMap(([key, field]) => objectsOf(field as z.ZodType, `${path}.${key}`)),
  ]
}
const objects = Object.entries(resources).flatMap(([name, schema]) => objectsOf(schema, name))

function keysOf(schema: z.ZodType): string[] {
  return Object.keys((coreOf(schema) as z.ZodObject).shape).sort()
}
function words(text: string): string[] {
  return text.trim().split(/\s+/).sort()
}

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheCreationTokens: 1,
  cacheReadTokens: 1,
  thinkingTokens: 1,
  platformCredits: 0.5,
}
const session = { sessionId: 's', status: 'idle', messageCount: 1, createdAt: 1748411762359, updatedAt: 1748411762359 }
const report = {
  reportId: 'r',
  createdAt: 1748411762359,
  repoUrl: 'https://git.example.com/a/b',
  apps: { '.': { description: 'All of it.' } },
  report: { tests: { numerator: 1, denominator: 2, rationale: 'Half of them.' } },
}
const message = {
  id: 'm',
  role: 'user',
  content: [{ type: 'text', text: 'Hi', id: 'b' }],
  createdAt: 1748411762359,
  updatedAt: 1748411762359,
}

function accepts(schema: z.ZodType, value: unknown) {
  return schema.safeParse(value).success
}
function refusal(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0]
  return issue && `${issue.path.join('.')}: ${issue.message}`
}

describe('the resource schemas', () => {
  it('describe every field at every depth, with its section of the specification', () => {
    for (const [path, object] of objects) {
      for (const [key, field] of Object.entries(object.shape)) {
        const doc = layersOf(field as z.ZodType).find(({ description }) => description !== undefined)?.description
        expect(doc, `${path}.${key}`).toMatch(/^[A-Z].*§[24]\.\d/)
      }
    }
  })

  it('let unknown keys pass at every depth (JSON-06)', () => {
    expect(objects.length).toBeGreaterThan(30)
    for (const [path, object] of objects) expect((object.def.catchall as z.ZodType)?.def.type, path).toBe('unknown')
  })

  it('have no two keys that are equal without regard to case (LAKE-04)', () => {
    for (const [path, object] of objects) expect(caseCollisions(Object.keys(object.shape)), path).toEqual([])
    expect(caseCollisions(['userId', 'name', 'userid'])).toEqual(['userid'])
  })

  it('have the fields of the specification, no more and no fewer', () => {
    expect(keysOf(ReadinessReport)).toEqual(
      words(
        'reportId createdAt repoUrl apps report commitHash branch hasLocalChanges hasNonRemoteCommits modelUsed agentVersion',
      ),
    )
    expect(keysOf(Session)).toEqual(
      words('sessionId status messageCount createdAt updatedAt title completedAt computerId sessionSettings'),
    )
    const settings = `model reasoningEffort interactionMode autonomyLevel autonomyMode specModeModel
      specModeReasoningEffort providerLock providerLockTimestamp apiProviderLock assistantActiveTimeMs tokenUsage
      inclusiveTokenUsage childInclusiveTokenUsageBySessionId archivedAt tags enabledToolIds disabledToolIds`
    expect(keysOf(SessionSettings)).toEqual(words(settings))
    expect(keysOf(TokenUsage)).toEqual(Object.keys(usage).sort())
    expect(keysOf(Message)).toEqual(
      words(`id role content createdAt updatedAt parentId visibility vendorMessageId vendorPhase vendorEncryptedContent
        vendorReasoningId vendorReasoningSummary altVendorThoughtSignature chatCompletionReasoningField
        chatCompletionReasoningContent isUserVisible isError`),
    )
    expect(keysOf(Computer)).toEqual(
      words('id name providerType createdAt hostname status provisioningSteps relayClientUrl relayAgentUrl remoteUser'),
    )
    expect(keysOf(OrganizationUser)).toEqual(words('id email createdAt firstName lastName lastSignInAt metadata'))
    expect(keysOf(EnterpriseControlRevision)).toEqual(words('revision settings user updatedAt'))
    expect(keysOf(EnterpriseSettings)).toEqual(
      words(`sessionDefaultSettings maxAutonomyLevel mcpAutonomyOverrides cloudSessionSync wikiCloudSync
        includeCoAuthoredByAgent enableAgentShield ideAutoConnect commandAllowlist commandDenylist customModels
        modelPolicy mcpPolicy missionPolicy userModelPolicies enabledPlugins extraKnownMarketplaces
        strictKnownMarketplaces networkPolicy sandbox restrictMemberVisibility restrictApiKeyCreationToManagers
        managedComputersEnabled byomComputersEnabled managedComputersAllowedEmails byomComputersAllowedEmails
        sessionRetentionDays`),
    )
  })

  it('require of users, computers, settings and revisions only what identifies them', () => {
    expect(accepts(OrganizationUser, { id: 'u' })).toBe(true)
    expect(accepts(Computer, { id: 'c' })).toBe(true)
    expect(accepts(EnterpriseSettings, {})).toBe(true)
    expect(accepts(SessionSettings, {})).toBe(true)
    expect(accepts(EnterpriseControlRevision, { revision: 1, settings: {} })).toBe(true)
    expect(accepts(EnterpriseControlRevision, { revision: 1 })).toBe(false)
    expect(accepts(OrganizationUser, { id: '' })).toBe(false)
  })

  it('require of sessions, reports and messages what the specification says', () => {
    for (const key of Object.keys(session)) expect(accepts(Session, { ...session, [key]: undefined }), key).toBe(false)
    for (const key of Object.keys(report)) expect(accepts(ReadinessReport, { ...report, [key]: null }), key).toBe(false)
    for (const key of Object.keys(message)) expect(accepts(Message, { ...message, [key]: null }), key).toBe(false)
    expect([accepts(Session, session), accepts(ReadinessReport, report), accepts(Message, message)]).toEqual([
      true,
      true,
      true,
    ])
  })

  it('take values that no list names', () => {
    expect(accepts(Session, { ...session, status: 'hibernating' })).toBe(true)
    expect(accepts(Message, { ...message, role: 'critic', content: [{ type: 'image', source: {} }] })).toBe(true)
    expect(accepts(Computer, { id: 'c', providerType: 'managed', status: 'ready' })).toBe(true)
  })

  it('invent no data: nothing is coerced (JSON-07)', () => {
    expect(accepts(Session, { ...session, messageCount: '1' })).toBe(false)
    expect(accepts(Session, { ...session, messageCount: 1.5 })).toBe(false)
    expect(accepts(Session, { ...session, createdAt: '' })).toBe(false)
    expect(accepts(ReadinessReport, { ...report, hasLocalChanges: 'false' })).toBe(false)
    expect(OrganizationUser.parse({ id: 'u', lastSignInAt: null }).lastSignInAt).toBeNull()
  })

  it('refuse seconds where milliseconds belong, and times out of range (TIME-01)', () => {
    expect(refusal(Session, { ...session, createdAt: 1748411762 })).toMatch(/^createdAt: .*seconds/)
    expect(accepts(Session, { ...session, completedAt: 1748411762359000 })).toBe(false)
    expect(accepts(Computer, { id: 'c', provisioningSteps: [{ startedAt: 0 }] })).toBe(false)
    expect(accepts(EnterpriseControlRevision, { revision: 1, settings: {}, updatedAt: 'yesterday' })).toBe(false)
    expect(
      accepts(EnterpriseControlRevision, { revision: 1, settings: {}, updatedAt: '2026-01-01T00:00:00+01:00' }),
    ).toBe(true)
  })

  it('refuse numbers that a double can not hold (JSON-01, JSON-08)', () => {
    const tokens = (number: string) => parseJson(`{"inputTokens":${number}}`)
    expect(accepts(TokenUsage, tokens('9007199254740993'))).toBe(false)
    expect(accepts(TokenUsage, tokens('1e400'))).toBe(false)
    expect(accepts(TokenUsage, tokens('19.99'))).toBe(true)
    expect(accepts(EnterpriseControlRevision, parseJson('{"revision":9007199254740993,"settings":{}}'))).toBe(false)
  })

  it('hold a criterion to its bounds: numerator from 0 to denominator, denominator at least 1 (§2.1)', () => {
    const criterion = (numerator: number, denominator: number) =>
      refusal(ReadinessReport, { ...report, report: { tests: { numerator, denominator, rationale: '' } } })
    expect(criterion(0, 1)).toBeUndefined()
    expect(criterion(3, 3)).toBeUndefined()
    expect(criterion(3, 2)).toBe('report.tests.numerator: is greater than the denominator')
    expect(criterion(-1, 2)).toMatch(/^report.tests.numerator: /)
    expect(criterion(0, 0)).toMatch(/^report.tests.denominator: /)
  })
})
