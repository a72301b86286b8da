import { describe, expect, it } from 'vitest'
import type { PlatformClient } from '../../lib/platform/client.ts'
import { clientOf, failure } from './fixture.ts'
import { json, type Seen, stubServer } from './stub-server.ts'

const at = 1_760_000_000_000
const pagination = { hasMore: false }
const session = { sessionId: 's1', status: 'idle', messageCount: 2, createdAt: at, updatedAt: at }
const message = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'hi' }], createdAt: at, updatedAt: at }
const report = {
  reportId: '6f1c1c56-0d0b-4c53-9a39-0f4f7ac2a001',
  createdAt: at,
  repoUrl: 'https://x/r',
  apps: {},
  report: {},
}
const users = [{ email: 'ada@example.com', limit: 500 }]
const outcome = { updated: users, errors: [{ email: 'bob@example.com', error: 'unknown user' }] }
const submission = {
  text: 'See these',
  images: [{ type: 'base64' as const, data: 'aGk=', mediaType: 'image/jpeg' }],
  files: [{ type: 'base64' as const, data: 'aGk=', mediaType: 'application/pdf', name: 'a.pdf' }],
  computerId: 'c1',
}

type Endpoint = [
  title: string,
  call: (client: PlatformClient) => Promise<unknown>,
  expected: Pick<Seen, 'method' | 'path'> & Partial<Pick<Seen, 'query' | 'body'>>,
  answer: unknown,
]

const endpoints: Endpoint[] = [
  [
    '1, readiness reports',
    (client) => client.listReadinessReports({ repoId: 'r1', limit: 500, startAfter: report.reportId }),
    {
      method: 'GET',
      path: '/app/api/organization/maturity-level-reports',
      query: { repoId: 'r1', limit: '500', startAfter: report.reportId },
    },
    { reports: [report] },
  ],
  [
    '2, history of enterprise controls',
    (client) => client.listEnterpriseControlHistory({ limit: 100, cursor: 'a b&c=' }),
    {
      method: 'GET',
      path: '/v0/api/v0/organization/enterprise-controls/history',
      query: { limit: '100', cursor: 'a b&c=' },
    },
    { changes: [{ revision: 1, settings: {} }], pagination },
  ],
  [
    '3, sessions',
    (client) => client.listSessions({ limit: 1, computerId: 'c1' }),
    { method: 'GET', path: '/v0/api/v0/sessions', query: { limit: '1', computerId: 'c1' } },
    { sessions: [session], pagination: { hasMore: true, nextCursor: 'n' } },
  ],
  [
    '4, create a session',
    (client) => client.createSession({ computerId: 'c1', cwd: '/work', sessionSettings: { model: 'm' } }),
    {
      method: 'POST',
      path: '/v0/api/v0/sessions',
      body: { computerId: 'c1', cwd: '/work', sessionSettings: { model: 'm' } },
    },
    session,
  ],
  [
    '5, a session',
    (client) => client.getSession('s/1?', { computerId: 'c1' }),
    { method: 'GET', path: '/v0/api/v0/sessions/s%2F1%3F', query: { computerId: 'c1' } },
    session,
  ],
  [
    '6, change a session',
    (client) => client.updateSession('s1', { sessionSettings: { tags: [{ name: 't', metadata: {} }] } }),
    {
      method: 'PATCH',
      path: '/v0/api/v0/sessions/s1',
      body: { sessionSettings: { tags: [{ name: 't', metadata: {} }] } },
    },
    session,
  ],
  [
    '7, messages of a session',
    (client) => client.listMessages('s1', { limit: 20, cursor: 'c', computerId: 'k', role: 'tool' }),
    {
      method: 'GET',
      path: '/v0/api/v0/sessions/s1/messages',
      query: { limit: '20', cursor: 'c', computerId: 'k', role: 'tool' },
    },
    { messages: [message], pagination },
  ],
  [
    '8, add a message',
    (client) => client.addMessage('s1', submission),
    { method: 'POST', path: '/v0/api/v0/sessions/s1/messages', body: submission },
    { messageId: 'm2', status: 'pending' },
  ],
  [
    '9, a message',
    (client) => client.getMessage({ sessionId: 's1', messageId: 'ü' }, { computerId: 'c1' }),
    { method: 'GET', path: '/v0/api/v0/sessions/s1/messages/%C3%BC', query: { computerId: 'c1' } },
    message,
  ],
  [
    '10, computers',
    (client) => client.listComputers(),
    { method: 'GET', path: '/v0/api/v0/computers' },
    { computers: [{ id: 'c1', status: 'a new one', somethingNew: true }] },
  ],
  [
    '11, users of the organization',
    (client) => client.listOrganizationUsers(),
    { method: 'GET', path: '/v0/api/v0/organization/users' },
    { users: [{ id: 'u1', email: 'ada@example.com', lastSignInAt: null }], pagination },
  ],
  [
    '12, credit limits',
    (client) => client.setUserCreditLimits(users),
    { method: 'PUT', path: '/v0/api/v0/organization/usage/limits/users', body: { users } },
    outcome,
  ],
]

describe('the endpoints of §4.2', () => {
  it.each(endpoints)(
    '%s: sends what the specification says and answers what came',
    async (...[, call, expected, answer]: Endpoint) => {
      const { url, seen } = await stubServer(
        json(answer, expected.path.endsWith('/sessions') && expected.body ? 201 : 200),
      )
      await expect(call(clientOf(url, { appUrl: `${url}/app`, baseUrl: `${url}/v0` }))).resolves.toEqual(answer)
      expect(seen).toHaveLength(1)
      const { headers, ...request } = seen[0] as Seen
      expect(request).toEqual({ query: {}, body: undefined, ...expected })
      expect(headers.get('authorization')).toBe('Bearer key_live_ABC123')
      expect(headers.get('content-type')).toBe(expected.body === undefined ? null : 'application/json')
    },
  )

  it.each(endpoints.filter(([title]) => !title.startsWith('4')))(
    '%s: takes a success of another shape for an error that names the place',
    async (_title, call) => {
      const { url, seen } = await stubServer(json({ sessions: 'none', data: [] }))
      const error = await failure(call(clientOf(url)))
      expect(error).toMatchObject({ name: 'FatalError', code: 'unexpected_body' })
      expect(error.message).toMatch(/unexpected shape: [a-zA-Z]+: /)
      expect(seen).toHaveLength(1)
    },
  )
})

describe('rules of requests', () => {
  const unknown = (value: unknown) => value as never
  const refused: [field: string, title: string, call: (client: PlatformClient) => Promise<unknown>][] = [
    ['limit', 'a limit of 0', (client) => client.listSessions({ limit: 0 })],
    ['limit', 'a limit of 101', (client) => client.listOrganizationUsers({ limit: 101 })],
    ['limit', 'a broken limit', (client) => client.listEnterpriseControlHistory({ limit: 1.5 })],
    ['limit', 'a readiness limit of 0', (client) => client.listReadinessReports({ limit: 0 })],
    ['cursor', 'an empty cursor', (client) => client.listSessions({ cursor: '' })],
    ['role', 'a role that is no filter', (client) => client.listMessages('s1', { role: unknown('system') })],
    ['computerId', 'a session without computer', (client) => client.createSession(unknown({}))],
    ['cwd', 'an empty working directory', (client) => client.createSession({ computerId: 'c', cwd: '' })],
    ['cwd', 'a long working directory', (client) => client.createSession({ computerId: 'c', cwd: 'd'.repeat(4097) })],
    [
      'sessionSettings.tokenUsage',
      'token usage in a request',
      (client) => client.updateSession('s1', { sessionSettings: unknown({ tokenUsage: {} }) }),
    ],
    ['sessionId', 'a session id that climbs the path', (client) => client.getSession('..')],
    ['sessionId', 'an empty session id', (client) => client.addMessage('', { text: 'x' })],
    ['messageId', 'an empty message id', (client) => client.getMessage({ sessionId: 's1', messageId: '' })],
    ['text', 'a message without text', (client) => client.addMessage('s1', unknown({}))],
    [
      'images.0.type',
      'an image that is no base64',
      (client) =>
        client.addMessage('s1', { text: '', images: [unknown({ type: 'url', data: 'aGk=', mediaType: 'image/png' })] }),
    ],
    [
      'files.0.data',
      'a file without data',
      (client) => client.addMessage('s1', { text: '', files: [unknown({ type: 'base64', mediaType: 'text/plain' })] }),
    ],
    ['users', 'no users', (client) => client.setUserCreditLimits([])],
    ['users', '101 users', (client) => client.setUserCreditLimits(Array.from({ length: 101 }, () => users[0]!))],
    ['users.0.email', 'no e-mail address', (client) => client.setUserCreditLimits([{ email: 'ada', limit: 1 }])],
    ...[1.5, 2 ** 53, -1, null, '5', Number.NaN].map((limit): (typeof refused)[number] => [
      'users.0.limit',
      `${JSON.stringify(limit)} as a credit limit`,
      (client) => client.setUserCreditLimits([{ email: 'ada@example.com', limit: unknown(limit) }]),
    ]),
  ]

  it.each(refused)('%s: refuses %s before anything is sent', async (field, _title, call) => {
    const { url, seen } = await stubServer(json({}))
    const error = await failure(call(clientOf(url)))
    expect(error).toMatchObject({ name: 'RejectedError', code: 'bad_request', status: undefined })
    expect(error.message).toMatch(new RegExp(`[: ]${field}[: ]`))
    expect(seen).toHaveLength(0)
  })

  it('takes the bounds themselves', async () => {
    const { url, seen } = await stubServer(json(session, 201), json(outcome))
    const client = clientOf(url)
    await client.createSession({ computerId: 'c', cwd: 'd'.repeat(4096) })
    await client.setUserCreditLimits([
      { email: 'ada@example.com', limit: 0 },
      { email: 'ü@example.com', limit: 2 ** 53 - 1 },
    ])
    expect(seen).toHaveLength(2)
  })
})
