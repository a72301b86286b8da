import { createHmac } from 'node:crypto'
import type { Simulator } from '../../../lib/local/simulator/simulator.ts'
import { redactionKey } from './process.ts'

/** A secret that sits somewhere in what the platform sends; `value` is what becomes a fingerprint. */
export type Canary = { place: string; secret: string; value: string }

/** Makes canaries. None is part of another, and none can be guessed from its form. */
export function createCanaries() {
  const all: Canary[] = []
  const secret = (place: string, around = (text: string) => text): string => {
    const text = `Qz${Buffer.from(`${all.length}-${place}`).toString('hex')}Zq`
    all.push({ place, secret: text, value: around(text) })
    return around(text)
  }
  return { all: all as readonly Canary[], secret }
}

/** The fingerprint that stands in the place of a value. */
export function fingerprintOf(value: string): string {
  return `redacted:hmac-sha256:${createHmac('sha256', redactionKey).update(value).digest('hex').slice(0, 16)}`
}

/** The forms in which a secret could show: as it is, escaped, and inside base64 at each alignment. */
export function formsOf(secret: string): string[] {
  const inside = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    return text.slice(offset === 0 ? 0 : 4, -4)
  })
  return [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...inside]
}

type Secret = ReturnType<typeof createCanaries>['secret']

/** Puts canaries into every kind of record, broken ones included. */
export function releaseCanaries(simulator: Simulator, secret: Secret): void {
  const put = (resource: 'revisions' | 'users' | 'sessions' | 'computers' | 'reports', id: string, value: object) =>
    simulator.put(resource, id, { value })
  put('revisions', '900', revisionWith(secret, { revision: 900 }))
  put('revisions', '901', revisionWith(secret, { revision: 901, updatedAt: 5 }))
  put('revisions', 'no-key', revisionWith(secret, { updatedAt: '2026-11-01T00:00:00Z' }))
  const metadata = (name: string) => ({
    apiKey: secret(`${name}.metadata.apiKey`),
    deep: [{ Authorization: secret(`${name}.metadata.deep`) }],
    'refresh-token': secret(`${name}.metadata.refresh-token`),
  })
  put('users', 'u-1', { id: 'u-1', email: 'a@example.com', metadata: metadata('user') })
  put('users', 'u-2', { id: 'u-2', email: 7, metadata: metadata('broken user') })
  const session = { status: 'idle', messageCount: 1, createdAt: 1_790_000_000_000, updatedAt: 1_790_000_000_000 }
  put('sessions', 's-1', {
    ...session,
    sessionId: 's-1',
    title: `see https://me:${secret('title url')}@example.com/x`,
    dbPassword: secret('unknown field'),
    sessionSettings: { tags: [{ name: 'a', metadata: { token: secret('tag metadata') } }] },
  })
  simulator.putMessages(
    's-1',
    messagesWith(secret).map((value) => ({ value })),
  )
  put('computers', 'c-1', {
    id: 'c-1',
    relayClientUrl: `wss://me:${secret('relay url')}@relay.example.com/?token=${secret('relay query')}`,
    provisioningSteps: [{ id: 'p', error: `clone of https://me:${secret('step error')}@example.com failed` }],
  })
  const url = `https://oauth:${secret('repo url')}@git.example.com/a.git`
  const report = { report: {}, apps: { '.': { description: `from ${url}`, clientSecret: secret('app field') } } }
  put('reports', 'r-1', { reportId: 'r-1', createdAt: 1_790_000_000_000, repoUrl: url, ...report })
}

function messagesWith(secret: Secret): object[] {
  const message = { role: 'assistant', createdAt: 1_790_000_000_000, updatedAt: 1_790_000_000_000 }
  const result = {
    type: 'tool_result',
    content: [{ type: 'text', text: `clone https://me:${secret('tool result')}@git.example.com/a` }],
  }
  return [
    {
      ...message,
      id: 'm-1',
      content: [
        { type: 'text', text: `see https://me:${secret('message text')}@example.com/x` },
        { type: 'tool_use', input: { command: 'deploy', env: { API_TOKEN: secret('tool input') } } },
        result,
      ],
      vendorReasoningSummary: `I use https://me:${secret('reasoning')}@example.com`,
      fieldOfTomorrow: { clientSecret: secret('unknown field of a message') },
    },
    { ...message, id: 'm-2', content: `https://me:${secret('content that is a text')}@example.com` },
    { ...message, content: [{ type: 'text', text: `https://me:${secret('message without an id')}@example.com` }] },
  ]
}

function revisionWith(secret: Secret, fields: { [name: string]: unknown }) {
  const at = (place: string) => secret(`${JSON.stringify(fields)} ${place}`)
  return {
    user: { id: 'u', email: 'u@example.com', name: 'U' },
    updatedAt: '2026-11-01T00:00:00.000Z',
    settings: {
      customModels: [
        {
          model: 'm',
          apiKey: at('apiKey'),
          baseUrl: `https://me:${at('url password')}@models.example.com/v1?api_key=${at('url query')}`,
          extraHeaders: {
            Authorization: secret(`${JSON.stringify(fields)} header`, (text) => `Bearer ${text}`),
            'X-Any': at('any header'),
          },
          extraArgs: { some: { depth: [at('extra arg')] } },
          hostedProvider: { cloudAuthRefresh: at('refresh'), cloudCredentialExport: at('export') },
        },
      ],
      mcpAutonomyOverrides: { server: { env: { GITHUB_TOKEN: at('override') } } },
      notYetKnown: [{ ClientSecret: at('unknown'), inner: { 'private-key': at('unknown, deeper') } }],
      strictKnownMarketplaces: [{ source: 'git', repo: `https://${at('url token')}@git.example.com/x.git` }],
    },
    ...fields,
  }
}
