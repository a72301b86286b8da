import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createPlatformClient,
  type FatalError,
  type NewMessage,
  type NewSession,
  RejectedError,
} from 'agent-platform-sync'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { failure } from './fixture.ts'

let sim: Simulator
const folder = mkdtempSync(join(tmpdir(), 'platform-client-'))
beforeAll(async () => {
  sim = await startSimulator({ counts: { sessions: 2, computers: 2, users: 1, reports: 1, revisions: 1 } })
})
afterAll(async () => {
  await sim.close()
  rmSync(folder, { recursive: true, force: true })
})

function client() {
  return createPlatformClient({ appUrl: sim.appUrl, baseUrl: sim.baseUrl, credentials: 'sim-key' })
}

async function aComputer(): Promise<string> {
  return (await client().listComputers()).computers[0]?.id as string
}

const pdf = { type: 'base64', mediaType: 'application/pdf', data: 'JVBERi0xLjc=' } as const
const image = { type: 'base64', mediaType: 'image/jpeg', data: '/9j/4AAQ' } as const

describe('the example of docs/client.md', () => {
  it('is the one that is tested here', () => {
    const [example] = /```ts\n(.*?)```/s.exec(readFileSync('docs/client.md', 'utf8'))?.slice(1) ?? []
    expect(example).toBe(readFileSync('test/platform/client-example.ts', 'utf8'))
  })

  it('does what it says', async () => {
    vi.stubEnv('PLATFORM_APP_URL', sim.appUrl)
    vi.stubEnv('PLATFORM_BASE_URL', sim.baseUrl)
    vi.stubEnv('PLATFORM_API_KEY', 'sim-key')
    const order = join(folder, 'order.pdf')
    writeFileSync(order, '%PDF-1.7')
    const { review } = await import('./client-example.ts')
    expect(await review(await aComputer(), order)).toEqual(['Does the code do what this order says?'])
    const fault = sim.fault({ endpoint: 'addMessage', kind: 'reset', handled: true, times: 1 })
    expect(await review(await aComputer(), order)).toEqual(['Does the code do what this order says?'])
    sim.removeFault(fault.id)
    writeFileSync(order, '')
    const [refused] = await review(await aComputer(), order)
    expect(refused).toMatch(
      /^not sent: POST \/api\/v0\/sessions\/[\w-]+\/messages was not sent: files\.0\.data: is empty/,
    )
  })
})

describe('what creates something', () => {
  it('makes, changes and reads sessions and messages', async () => {
    const platform = client()
    const computerId = await aComputer()
    const { sessionId } = await platform.createSession({ computerId, sessionSettings: { model: 'atlas-small' } })
    await platform.updateSession(sessionId, { sessionSettings: { tags: [{ name: 'nightly' }] } })
    const text = 'Look at both.'
    const { messageId } = await platform.addMessage(sessionId, { text, images: [image], files: [pdf], computerId })
    expect(await platform.getSession(sessionId)).toMatchObject({
      ...{ sessionId, computerId, messageCount: 1 },
      sessionSettings: { model: 'atlas-small', tags: [{ name: 'nightly' }] },
    })
    expect(await platform.getMessage({ sessionId, messageId })).toMatchObject({ role: 'user', content: [{ text }] })
    expect((await platform.listMessages(sessionId, { role: 'user' })).messages).toHaveLength(1)
  })

  it.each([
    ['a reset after the platform did its work', { kind: 'reset', handled: true }],
    ['a body that breaks off', { kind: 'cut', bytes: 3 }],
    ['a 503', { kind: 'status', status: 503 }],
    ['a 503 that says when to come back', { kind: 'status', status: 503, headers: { 'retry-after': '1' } }],
  ] as const)('is asked for once when %s leaves open what came of it, and says so', async (_, rule) => {
    const before = sim.counts.createSession ?? 0
    const fault = sim.fault({ ...rule, endpoint: 'createSession' })
    const error = (await failure(client().createSession({ computerId: await aComputer() }))) as unknown as FatalError
    sim.removeFault(fault.id)
    expect((sim.counts.createSession ?? 0) - before).toBe(1)
    expect(error).toMatchObject({ name: 'FatalError', action: 'stop', code: 'outcome_unknown' })
    expect(error.message).toContain(
      'not known, and it was not asked again, so as not to do it twice: POST /api/v0/sessions',
    )
    expect(error.message).toMatch(/Look first whether what was to be created is there\.$/)
  })
})

describe('what breaks a rule', () => {
  const secret = 'c2VjcmV0LW9mLWEtZmlsZQ'
  it.each<[string, object]>([
    ['text', { text: 5 }],
    ['images.0.type', { text: 'x', images: [{ ...image, type: 'url' }] }],
    ['images.0.mediaType', { text: 'x', images: [pdf] }],
    ['images.0.data', { text: 'x', images: [{ ...image, data: '' }] }],
    ['files.1.data', { text: 'x', files: [pdf, { ...pdf, data: secret }] }],
    ['files.0.data', { text: 'x', files: [{ ...pdf, data: `data:application/pdf;base64,${secret}==` }] }],
    ['files.0.data', { text: 'x', files: [{ ...pdf, data: `${secret}==\n` }] }],
    ['files.0.mediaType', { text: 'x', files: [{ ...pdf, mediaType: 'video/mp4' }] }],
    ['files.0', { text: 'x', files: [{ ...pdf, mimeType: 'application/pdf' }] }],
    ['computerId', { text: 'x', computerId: '' }],
    ['the whole', { text: 'x', computerID: secret }],
  ])('is refused by %s before anything is sent, and quotes no data', async (field, message) => {
    const before = sim.counts.addMessage
    const error = await failure(client().addMessage('s1', message as NewMessage))
    expect(error).toBeInstanceOf(RejectedError)
    expect(error.message).toContain(`POST /api/v0/sessions/s1/messages was not sent: ${field}: `)
    expect(error.message).not.toContain(secret)
    expect(sim.counts.addMessage).toBe(before)
  })

  it.each<[string, object]>([
    ['computerId', {}],
    ['computerId', { computerId: '' }],
    ['cwd', { computerId: 'c', cwd: '' }],
    ['cwd', { computerId: 'c', cwd: 'x'.repeat(4_097) }],
    ['sessionSettings.tokenUsage', { computerId: 'c', sessionSettings: { tokenUsage: {} } }],
    ['the whole', { computerId: 'c', workingDirectory: '/' }],
  ])('is refused by %s of a session before anything is sent', async (field, session) => {
    const before = sim.counts.createSession
    const error = await failure(client().createSession(session as NewSession))
    expect(error).toMatchObject({ name: 'RejectedError', code: 'bad_request' })
    expect(error.message).toContain(`POST /api/v0/sessions was not sent: ${field}: `)
    expect(sim.counts.createSession).toBe(before)
  })

  it('takes a cwd of 4,096 characters, and any image and text file', async () => {
    const { sessionId } = await client().createSession({ computerId: await aComputer(), cwd: 'x'.repeat(4_096) })
    const images = [{ ...image, mediaType: 'image/webp' }]
    await client().addMessage(sessionId, { text: '', images, files: [{ ...pdf, mediaType: 'text/markdown' }] })
  })
})
