import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkCollector } from '../../lib/cli/doctor-hooks.ts'
import { composeCollect } from '../../lib/compose/hooks-collect.ts'
import { composeHooksInspection } from '../../lib/compose/hooks-inspect.ts'
import { composeStoreHooks } from '../../lib/compose/hooks-store.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { localCredentials } from '../../lib/local/emulators/prepare.ts'
import { type LocalCollector, startLocalCollector } from '../../lib/local/hooks-collector.ts'
import { createHookQueue } from '../../lib/stores/hook-queue.ts'
import { createSqs } from '../../lib/stores/sqs.ts'
import { json, stubServer } from '../platform/stub-server.ts'
import { useEmulators } from '../stores/emulated.ts'

const emulated = useEmulators()
const runtime = { log: silentLog, metrics: noMetrics, credentials: localCredentials }
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
let collector: LocalCollector
let address: string
const closing: { close(): void }[] = []

function environment(): Record<string, string> {
  return { ...emulated().emulators.environment, REDACTION_KEY: 'r'.repeat(32) }
}

beforeAll(async () => {
  const collect = composeCollect({ ...environment(), HOOKS_TOKENS: `{"tokens":["${first}","${second}"]}` }, runtime)
  const store = composeStoreHooks(environment(), runtime)
  closing.push(collect, store)
  collector = await startLocalCollector({ collect, store, log: silentLog, port: 0 })
  address = new URL(collector.url).origin
})
afterAll(async () => {
  await collector.close()
  for (const each of closing) each.close()
})

/** What the doctor says of a collector, by the name of each check. */
async function findings(variables: Record<string, string>) {
  const inspection = composeHooksInspection({ AWS_REGION: 'us-east-1', ...variables }, runtime)
  try {
    const checks = await checkCollector(inspection, fetch)
    return Object.fromEntries(checks.map(({ what, state, detail }) => [what, `${state}: ${detail}`]))
  } finally {
    inspection.close()
  }
}

it('the doctor says that nothing is collected where nothing of it is configured', async () => {
  expect(await findings({})).toEqual({ 'hook events': 'info: are not collected: no variable HOOKS_* is set' })
})

it('the doctor finds a collector that answers, each of its tokens, its queue and no dead letters', async () => {
  const HOOKS_TOKENS = `{"tokens":["${first}","${second}"]}`
  expect(await findings({ ...environment(), HOOKS_ADDRESS: `${address}/`, HOOKS_TOKENS })).toEqual({
    'collector, token 1': 'ok: answers and takes the token',
    'collector, token 2': 'ok: answers and takes the token',
    'hook queue': 'ok: can be read; 0 messages wait to be stored',
    'hook dead letters': 'ok: can be read; 0 messages failed',
  })
})

it('the doctor tells a token that is refused from none at all, and quotes neither', async () => {
  const wrong = await findings({ HOOKS_ADDRESS: address, HOOKS_TOKENS: 'c'.repeat(40) })
  expect(wrong.collector).toMatch(/^fail: refuses the token: /)
  expect(wrong.collector).not.toContain('ccc')
  expect((await findings({ HOOKS_ADDRESS: address })).collector).toMatch(/^ok: answers; its token was not tried/)
  expect((await findings({ HOOKS_ADDRESS: address, HOOKS_TOKENS: 'short' })).collector).toMatch(/^fail: .*no token/)
})

it.each([404, 500])('the doctor takes a server that answers %d for no collector', async (status) => {
  const { url } = await stubServer(json({}, status))
  expect((await findings({ HOOKS_ADDRESS: url, HOOKS_TOKENS: first })).collector).toMatch(
    new RegExp(`^fail: answers with status ${status}: HOOKS_ADDRESS may name something else`),
  )
})

it('the doctor says that a collector can not be reached', async () => {
  const { collector: found } = await findings({ HOOKS_ADDRESS: 'http://127.0.0.1:9', HOOKS_TOKENS: first })
  expect(found).toMatch(/^fail: can't be reached at http:\/\/127\.0\.0\.1:9: .*Check HOOKS_ADDRESS/)
})

it('the doctor warns of dead letters', async () => {
  const { HOOKS_DEAD_LETTERS_URL = '', AWS_REGION: region = '', AWS_ENDPOINT_URL: endpointUrl } = environment()
  const sqs = createSqs({ region, endpointUrl, credentials: localCredentials })
  await createHookQueue({ sqs, queueUrl: HOOKS_DEAD_LETTERS_URL }).send('no event')
  sqs.destroy()
  expect((await findings(environment()))['hook dead letters']).toMatch(/^warn: 1 failed five times/)
})
