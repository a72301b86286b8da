import { CloudWatchClient, DescribeAlarmsCommand, type MetricAlarm } from '@aws-sdk/client-cloudwatch'
import { DryRunOperationException, KMSClient, SignCommand } from '@aws-sdk/client-kms'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkInstallation } from '../../lib/cli/doctor-installation.ts'
import { composeDoctor } from '../../lib/compose/doctor.ts'
import { silentLog } from '../../lib/core/log.ts'
import { noMetrics } from '../../lib/core/metrics.ts'
import { waitingMs } from '../../lib/limits/intake/waiting-files.ts'
import { localCredentials } from '../../lib/local/emulators/prepare.ts'
import { createAlarmReader } from '../../lib/stores/alarms.ts'
import { createInbox, createInboxListing } from '../../lib/stores/inbox.ts'
import { mayBeSignedWith } from '../../lib/stores/kms-signer.ts'
import { createSqs } from '../../lib/stores/sqs.ts'
import { send } from '../limits/emulated.ts'
import { useEmulators } from '../stores/emulated.ts'

const emulated = useEmulators()
const unset = { ledger: null, waiting: null, deadLetters: null, inbox: null, maySign: null, alarms: null }
const region = { AWS_REGION: 'us-east-1' }

/** What the doctor says around the streams, by the name of each check. */
async function findings(variables: Record<string, string>, now = Date.now()) {
  const clock = { now: () => now, sleep: async () => {} }
  const runtime = { log: silentLog, metrics: noMetrics, credentials: localCredentials, clock }
  const inspection = composeDoctor({ ...region, ...variables }, runtime)
  try {
    const checks = await checkInstallation(inspection)
    return Object.fromEntries(checks.map(({ what, state, detail }) => [what, `${state}: ${detail}`]))
  } finally {
    inspection.close()
  }
}

describe('credit limits, as the doctor sees them', () => {
  it('are not looked at where nothing of them is configured', async () => {
    expect(await findings({})).toEqual({
      'credit limits': 'info: were not looked at: no variable LIMITS_* is set',
      alarms: expect.stringMatching(/^info: were not looked at: /),
    })
  })

  it('have a ledger, a queue, no dead letters and an emptied inbox; then a message that failed, and a file that nobody takes up', async () => {
    const { environment, endpointUrl, credentials } = emulated().emulators
    expect(await findings(environment)).toMatchObject({
      'limits ledger': 'ok: can be read',
      'limits queue': 'ok: can be read; 0 messages to be applied',
      'limits dead letters': 'ok: can be read; none',
      'limits inbox': 'ok: can be listed; no file waits for more than an hour',
      alarms: expect.stringMatching(/^info: were not looked at: emulators have none/),
    })

    const sqs = createSqs({ region: 'us-east-1', endpointUrl, credentials })
    onTestFinished(() => sqs.destroy())
    await send(sqs, environment.LIMITS_DEAD_LETTERS_URL ?? '', '{}')
    const place = { s3: emulated().s3, bucket: environment.INBOX_BUCKET ?? '' }
    await createInbox(place).put('limits.csv', Buffer.from('email,limit\n'), { contentType: 'text/csv' })
    const [file] = await createInboxListing(place).waiting()
    expect(await findings(environment, file!.droppedAt + waitingMs + 1)).toMatchObject({
      'limits dead letters': expect.stringMatching(/^warn: 1 message failed five times: .*limits redrive/),
      'limits inbox': expect.stringMatching(
        /^warn: 1 file for more than an hour, limits\.csv since .*inbox-file-waits/,
      ),
    })
  })

  it('fail where a variable names nothing', async () => {
    const { environment } = emulated().emulators
    const wrong = {
      LIMITS_TABLE: 'nobody',
      INBOX_BUCKET: 'nobody',
      LIMITS_QUEUE_URL: `${environment.LIMITS_QUEUE_URL}x`,
    }
    const found = await findings({ ...environment, ...wrong })
    for (const what of ['limits ledger', 'limits inbox', 'limits queue']) expect(found[what]).toMatch(/^fail: can't /)
  })
})

describe('the right to sign, as the doctor sees it', () => {
  const keyArn = 'arn:aws:kms:us-east-1:123456789012:key/k'

  async function judged(answer: Error) {
    const kms = new KMSClient({ region: 'us-east-1', credentials: localCredentials, maxAttempts: 1 })
    const mocked = mockClient(kms)
    mocked.on(SignCommand).rejects(answer)
    const maySign = () => mayBeSignedWith({ kms, keyArn })
    const [, found] = await checkInstallation({ ...unset, maySign })
    return { found, dryRuns: mocked.commandCalls(SignCommand).map(({ args: [{ input }] }) => input.DryRun) }
  }

  it('is asked for without a signature', async () => {
    const dry = new DryRunOperationException({ message: 'would have succeeded', $metadata: {} })
    const found = { what: 'right to sign', state: 'ok', detail: 'is there' }
    expect(await judged(dry)).toEqual({ found, dryRuns: [true] })
  })

  it('may be missing for the caller, who can still do the rest', async () => {
    const { found } = await judged(Object.assign(new Error('no kms:Sign'), { name: 'AccessDeniedException' }))
    expect(found?.state).toBe('warn')
    expect(found?.detail).toMatch(/^can't sign with .*no kms:Sign.*Grant the caller's role/)
  })
})

describe('alarms, as the doctor sees them', () => {
  const since = new Date('2026-11-28T03:04:05Z')

  function alarm(name: string, more: Partial<MetricAlarm> = {}): MetricAlarm {
    const AlarmActions = ['arn:aws:sns:us-east-1:123456789012:acme-alarms']
    return { AlarmName: name, StateValue: 'OK', AlarmActions, StateTransitionedTimestamp: since, ...more }
  }

  /** What is said of alarms that CloudWatch tells on pages, or that it does not tell. */
  async function judged(...pages: (MetricAlarm[] | Error)[]) {
    const client = new CloudWatchClient({ region: 'us-east-1', credentials: localCredentials, maxAttempts: 1 })
    const mocked = mockClient(client)
    const asked = mocked.on(DescribeAlarmsCommand)
    pages.forEach((page, i) => {
      if (page instanceof Error) asked.rejectsOnce(page)
      else asked.resolvesOnce({ MetricAlarms: page, ...(i < pages.length - 1 ? { NextToken: `${i}` } : {}) })
    })
    const alarms = createAlarmReader({ client, prefix: 'acme' }).all
    const [, ...checks] = await checkInstallation({ ...unset, alarms })
    expect(mocked.commandCalls(DescribeAlarmsCommand)[0]?.args[0].input).toMatchObject({ AlarmNamePrefix: 'acme-' })
    return checks.map(({ what, state, detail }) => `${state} ${what}: ${detail}`)
  }

  it('are named when they are red, with what they mean and since when, whatever the page they stand on', async () => {
    const AlarmDescription = 'A run ended as failed. See docs/operations.md, "run-failed".'
    const red = alarm('acme-run-failed', { StateValue: 'ALARM', AlarmDescription })
    expect(await judged([alarm('acme-stream-failed')], [red])).toEqual([
      `warn alarm run-failed: is red since 2026-11-28 03:04:05 UTC: ${AlarmDescription}`,
    ])
  })

  it('are well when none is red; those of another installation whose name begins alike do not count', async () => {
    const AlarmActions = ['arn:aws:sns:us-east-1:123456789012:acme-eu-alarms']
    const other = alarm('acme-eu-run-failed', { StateValue: 'ALARM', AlarmActions })
    expect(await judged([alarm('acme-run-failed'), other])).toEqual(['ok alarms: none of 1 is red'])
  })

  it('are missing where nothing is deployed that runs', async () => {
    expect(await judged([])).toEqual([expect.stringMatching(/^warn alarms: are not there: the stateless stack/)])
  })

  it('may be hidden from the caller, who can still do the rest', async () => {
    const denied = Object.assign(new Error('no right'), { name: 'AccessDenied' })
    expect(await judged(denied)).toEqual([
      expect.stringMatching(/^warn alarms: can't read the alarms of acme: no right/),
    ])
  })

  it('are asked for on AWS, by the name that begins the state table', () => {
    const compose = (more: Record<string, string>) => {
      const { alarms, close } = composeDoctor({ ...region, ...more }, { log: silentLog, metrics: noMetrics })
      close()
      return alarms !== null
    }
    expect(compose({ STATE_TABLE: 'acme-state' })).toBe(true)
    expect(compose({ STATE_TABLE: 'own' })).toBe(false)
    expect(compose({ STATE_TABLE: 'acme-state', AWS_ENDPOINT_URL: 'http://127.0.0.1:1' })).toBe(false)
  })
})
