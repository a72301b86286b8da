import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { composeAudit } from '../../lib/compose/audit.ts'
import { composeAuditLook } from '../../lib/compose/audit-look.ts'
import { composeCollect } from '../../lib/compose/hooks-collect.ts'
import { composeStoreHooks } from '../../lib/compose/hooks-store.ts'
import { composeInspect } from '../../lib/compose/inspect.ts'
import { composeLimits } from '../../lib/compose/limits.ts'
import { composeApply } from '../../lib/compose/limits-apply.ts'
import { composeImport } from '../../lib/compose/limits-import.ts'
import { composePublish } from '../../lib/compose/publish.ts'
import { composeApproval, composeRun } from '../../lib/compose/run.ts'
import { composeSync } from '../../lib/compose/sync.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'

const runtime = { log: silentLog, metrics: noMetrics }
const stored = { AWS_REGION: 'us-east-1', STATE_TABLE: 'state', LAKE_BUCKET: 'lake' }

/** The variables that a root names when there are none. */
function missingFor(compose: (variables: Record<string, string>, given: typeof runtime) => unknown): string[] {
  try {
    compose({}, runtime)
  } catch (error) {
    return [...(error as Error).message.matchAll(/^ {2}- (.*?) is missing/gm)].map(([, names = '']) => names)
  }
  throw new Error('it is content with nothing')
}

describe('a root names in one message all variables that it needs, and no other', () => {
  const platform = ['PLATFORM_APP_URL', 'PLATFORM_BASE_URL']
  const keys = ['PLATFORM_API_KEY or PLATFORM_SECRET_ID', 'REDACTION_KEY or REDACTION_SECRET_ID']
  const sync = ['AWS_REGION', 'STATE_TABLE', 'RECORDS_TABLE', 'LAKE_BUCKET', ...platform, ...keys]
  const limits = ['AWS_REGION', 'LIMITS_TABLE', 'LIMITS_QUEUE_URL']

  it.each([
    ['sync', composeSync, sync],
    ['a whole run', composeRun, sync],
    ['an approval', composeApproval, ['AWS_REGION', 'STATE_TABLE', 'RECORDS_TABLE', 'LAKE_BUCKET']],
    ['publish', composePublish, Object.keys(stored)],
    ['inspect', composeInspect, Object.keys(stored)],
    ['audit', composeAudit, Object.keys(stored)],
    ['looking at the audit trail', composeAuditLook, Object.keys(stored)],
    ['limits', composeLimits, limits],
    ['applying limits', composeApply, limits],
    ['importing limits', composeImport, limits],
    ['collecting hook events', composeCollect, ['AWS_REGION', 'HOOKS_QUEUE_URL', 'HOOKS_TOKENS or HOOKS_SECRET_ID']],
    [
      'storing hook events',
      composeStoreHooks,
      ['AWS_REGION', 'LAKE_BUCKET', 'HOOKS_TABLE', 'REDACTION_KEY or REDACTION_SECRET_ID'],
    ],
  ])('%s', (_, compose, expected) => {
    expect(missingFor(compose)).toEqual(expected)
  })
})

describe('an approval', () => {
  it('has nothing to read records with, and says so to whoever tries', async () => {
    const { approvalDeps, close } = composeApproval({ ...stored, RECORDS_TABLE: 'records' }, runtime)
    const none = { signal: AbortSignal.timeout(1_000), onRequest() {} } as never
    await expect(approvalDeps.source.fetchPage(organizationUsers, null, none)).rejects.toThrow('reads no record')
    expect(() => approvalDeps.redact({}, organizationUsers)).toThrow('reads no record')
    close()
  })
})

describe('credentials for an endpoint', () => {
  let server: Server
  let variables: Record<string, string>
  const asked: IncomingHttpHeaders[] = []

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(request.headers)
      response.setHeader('content-type', 'application/x-amz-json-1.0').end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    variables = { ...stored, AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'role')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret')
    vi.stubEnv('AWS_SESSION_TOKEN', 'session')
  })
  afterEach(() => void asked.splice(0))
  afterAll(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })

  it('are those of the process, with the session token of a role', async () => {
    const { checkpoints, close } = composeInspect(variables, runtime)
    await checkpoints.read('sessions')
    close()
    expect(asked).toMatchObject([
      { authorization: expect.stringContaining('Credential=role/'), 'x-amz-security-token': 'session' },
    ])
  })

  it('are those that were given with emulators, and no part of the others', async () => {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    const { checkpoints, close } = composeInspect(variables, { ...runtime, credentials })
    await checkpoints.read('sessions')
    close()
    expect(asked).toMatchObject([{ authorization: expect.stringContaining('Credential=local/') }])
    expect(asked[0]).not.toHaveProperty('x-amz-security-token')
  })
})
