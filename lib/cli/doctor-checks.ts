import { PrivacyVariables } from '../compose/privacy.ts'
import type { SyncRoot } from '../compose/sync.ts'
import { mapConcurrently } from '../core/concurrency.ts'
import { deadlineAfter } from '../core/deadline.ts'
import {
  AuditVariables,
  AwsVariables,
  MessagesVariables,
  PlatformVariables,
  PublishVariables,
  RedactionVariables,
  StoreVariables,
  type Variables,
} from '../core/env.ts'
import { messageOf, SyncError } from '../core/errors.ts'
import { platformStreams } from '../streams/index.ts'
import type { PlatformStream } from '../streams/stream.ts'

/** One thing that was looked at. `warn` does not stop a sync, `fail` does. */
export type Check = { what: string; state: 'ok' | 'warn' | 'fail' | 'info'; detail: string }

/** Variables that the SDK reads by itself, besides other places. */
const ofSdk = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const

const names = new Set([
  ...Object.keys(PlatformVariables.shape),
  ...Object.keys(RedactionVariables.shape),
  ...Object.keys(AwsVariables.shape),
  ...ofSdk,
  ...Object.keys(StoreVariables.shape),
  ...Object.keys(PublishVariables.shape),
  ...Object.keys(AuditVariables.shape),
  ...Object.keys(MessagesVariables.shape),
  ...Object.keys(PrivacyVariables.shape),
])
const secrets = new Set(['PLATFORM_API_KEY', 'REDACTION_KEY', 'AWS_SECRET_ACCESS_KEY'])

/** Tells every variable, and its value unless that is a secret. A missing one is named by the root that needs it. */
export function checkVariables(variables: Variables, { isLocal = false } = {}): Check[] {
  return [...names].map((what) => {
    const value = variables[what]
    if (!value) return { what, state: 'info', detail: isLocal && !isPlatform(what) ? 'set by --local' : 'not set' }
    return { what, state: 'ok', detail: secrets.has(what) ? `set (${value.length} characters)` : withoutUser(value) }
  })
}

function isPlatform(name: string): boolean {
  return name in PlatformVariables.shape
}

/** An address may carry a user and a password. */
function withoutUser(value: string): string {
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1***@')
}

/** Checks that tables and buckets are there and may be read. */
export async function checkStores(root: SyncRoot): Promise<Check[]> {
  return [
    await check('state table', 'can be read', () => root.checkpoints.read(anyStream.name)),
    await check('records table', 'can be read', () => root.records.get(anyStream.name, 'doctor')),
    await check('lake bucket', 'can be listed', () => root.objects.list('manifests/latest')),
    ...(await checkAudit(root)),
  ]
}

async function checkAudit({ audit }: SyncRoot): Promise<Check[]> {
  if (!audit) return [{ what: 'audit trail', state: 'info', detail: 'is not recorded: AUDIT_BUCKET is not set' }]
  return [
    await check('audit bucket', 'can be listed', () => audit.store.list('audit/keys/')),
    await check('audit head', 'can be read', () => audit.head.read()),
    await check('signing key', 'can be used', () => audit.signer.keyId()),
  ]
}

const anyStream = platformStreams[0] as PlatformStream

/** Checks that each endpoint that a stream reads answers with what the stream expects, and that the clocks agree. */
export async function checkPlatform(
  root: SyncRoot,
  { variables, fetch }: { variables: Variables; fetch: Fetch },
): Promise<Check[]> {
  const checks = await mapConcurrently(platformStreams, checksAtOnce, (stream) => checkEndpoint(stream, root))
  return [...checks, await checkClock(root, { address: variables.PLATFORM_BASE_URL ?? '', fetch })]
}

type Fetch = typeof globalThis.fetch

const patienceMs = 10_000
const checksAtOnce = 8

async function checkEndpoint({ name, reading }: PlatformStream, { platform, clock }: SyncRoot): Promise<Check> {
  const { endpoint, query } = reading.request({ token: null, pageSize: 1 })
  const read = async () =>
    reading.parse(await platform.get(endpoint, query, { deadline: deadlineAfter(clock, patienceMs) }))
  const result = await check(name, `GET ${endpoint.path} answers`, read)
  // A stream that is forbidden is skipped, and the others go on.
  return result.forbidden ? { ...result, state: 'warn' } : result
}

async function check(
  what: string,
  good: string,
  look: () => Promise<unknown>,
): Promise<Check & { forbidden?: boolean }> {
  try {
    await look()
    return { what, state: 'ok', detail: good }
  } catch (error) {
    const forbidden = error instanceof SyncError && error.code === 'forbidden'
    return { what, state: 'fail', detail: messageOf(error), ...(forbidden ? { forbidden } : {}) }
  }
}

const skewAllowedMs = 60_000

/** Compares this machine's clock with the platform's Date header; no credential is sent. */
async function checkClock({ clock }: SyncRoot, { address, fetch }: { address: string; fetch: Fetch }): Promise<Check> {
  const what = 'clock'
  const [patience, answered] = [new AbortController(), new AbortController()]
  clock.sleep(patienceMs, answered.signal).then(
    () => patience.abort(),
    () => {},
  )
  try {
    const { headers } = await fetch(address, { method: 'HEAD', redirect: 'manual', signal: patience.signal })
    const skewMs = clock.now() - Date.parse(headers.get('date') ?? '')
    if (Number.isNaN(skewMs)) return { what, state: 'info', detail: 'the platform does not say what time it is' }
    if (Math.abs(skewMs) <= skewAllowedMs) return { what, state: 'ok', detail: "agrees with the platform's" }
    const much = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the platform's`
    return { what, state: 'warn', detail: `${much}: set it by NTP, for AWS refuses requests that are 15 minutes off` }
  } catch {
    return { what, state: 'info', detail: 'could not be compared, the platform does not answer' }
  } finally {
    answered.abort()
  }
}
