import { describe, expect, it, vi } from 'vitest'
import { useExecutions } from '../executions.ts'

const rateLimit = { kind: 'status', endpoint: 'listSessions', status: 429 } as const

describe('the state machine', () => {
  const at = useExecutions()

  it('asks for the page of a at.nightly run alone, and ends as it would where that fails', async () => {
    expect((await at.run(at.nightly)).error).toBeUndefined()
    const { schedule, scheduledAt } = at.nightly
    expect(at.paged).toEqual([{ schedule, scheduledAt }])
    expect((await at.run({ ...at.nightly, schedule: 'controls' })).error).toBeUndefined()
    expect(at.paged).toHaveLength(1)
    at.writePage = async () => {
      throw new Error('the page fails')
    }
    expect(await at.run(at.nightly)).toMatchObject({ output: { run: { failure: null } } })
  })

  it('keeps the policy of credit limits after the users were read, and ends as it would where that fails', async () => {
    expect((await at.run(at.nightly)).error).toBeUndefined()
    expect(at.kept).toEqual([])
    const { schedule, scheduledAt } = at.nightly
    const users = { ...at.nightly, streams: ['organization_users'] }
    expect((await at.run(users)).error).toBeUndefined()
    expect(at.kept).toEqual([{ schedule, scheduledAt }])
    at.keepPolicy = async () => {
      throw new Error('the policy fails')
    }
    expect((await at.run(users)).error).toBeUndefined()
  })

  it('calls again until a paused stream is done, and publishes all streams at the end', async () => {
    at.looks = 4
    let attempts = 0
    const real = at.sync()
    const { output, error } = await at.run(at.nightly, (event) => {
      if (event.stream === 'sessions') attempts += 1
      return real(event)
    })
    expect(error).toBeUndefined()
    expect(attempts).toBeGreaterThan(2)
    expect(output?.outcomes.map(({ stream, status }) => [stream, status])).toEqual([
      ['sessions', 'complete'],
      ['computers', 'complete'],
    ])
    expect(output?.run).toMatchObject({ status: 'complete', failure: null })
    expect(at.events()).toHaveLength(1)
  })

  it('waits as long as the platform asks when it limits the rate', async () => {
    const fault = at.cloud.platform.fault({ ...rateLimit, headers: { 'retry-after': '900' } })
    const real = at.sync()
    const now = Date.now
    const { output } = await at.run(at.nightly, async (event) => {
      const result = await real(event)
      if (event.stream !== 'sessions') return result
      at.cloud.platform.removeFault(fault.id)
      // The interpreter does not really wait. Time goes on from there in the tests after this one, as the wait holds for all workers.
      vi.spyOn(Date, 'now').mockImplementation(() => now() + 905_000)
      return result
    })
    // The wait holds for all workers of the key: the other stream hears of it, too, unless it had asked before.
    const told = at.waited.map((input) => JSON.parse(input).step).filter(({ stream }) => stream === 'sessions')
    expect(told).toMatchObject([{ status: 'rate_limited', waitSeconds: 900 }])
    expect(output?.run).toMatchObject({ status: 'complete' })
  })

  it('WAIT-01 ends a stream whose wait is beyond the run, publishes the others, and asks no more until that time', async () => {
    const limited = { ...at.nightly, streams: ['readiness_reports', 'computers'] }
    const fault = at.cloud.platform.fault({
      ...{ ...rateLimit, endpoint: 'listReports' },
      headers: { 'retry-after': '2592000' },
    })
    const { error } = await at.run(limited)
    expect(at.waited).toEqual([])
    expect(error).toMatch(/^readiness_reports rate_limited: .*no request is sent before \d{4}-\d\d-\d\dT/)
    const partitions = at.cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(partitions.map(({ input }) => input.TableName)).toContain('computers')
    at.cloud.platform.removeFault(fault.id)
    const asked = at.cloud.platform.counts.listReports
    await at.run({ ...limited, schedule: 'later' })
    expect(at.cloud.platform.counts.listReports).toBe(asked)
  })

  it('publishes the others when one stream fails, and then fails with the reason', async () => {
    at.cloud.platform.fault({ kind: 'json200', endpoint: 'listComputers', body: {} })
    const { error } = await at.run(at.nightly)
    expect(error).toMatch(/^computers failed: /)
    const partitions = at.cloud.calls.filter(({ action }) => action === 'BatchCreatePartition')
    expect(partitions.map(({ input }) => input.TableName)).toContain('sessions')
    expect(JSON.stringify(at.events())).toContain('partial')
  })

  it('publishes the others when the function of a stream is killed again and again', async () => {
    const real = at.sync()
    let deaths = 0
    const { error } = await at.run(at.nightly, (event) => {
      if (event.stream !== 'computers') return real(event)
      deaths += 1
      throw Object.assign(new Error('{"errorMessage":"RequestId: 1 Error: Runtime exited"}'), {
        name: 'Runtime.ExitError',
      })
    })
    expect(deaths).toBe(3)
    expect(error).toBe('computers failed: Runtime.ExitError: RequestId: 1 Error: Runtime exited')
    expect(at.events()).toHaveLength(1)
  })

  it('asks a function once that can not read what it gets, or has not what it needs, and publishes the others', async () => {
    const real = at.sync()
    let asked = 0
    const { error } = await at.run(at.nightly, (event) => {
      if (event.stream !== 'computers') return real(event)
      asked += 1
      return real({ ...event, stream: 7 })
    })
    expect(asked).toBe(1)
    expect(error).toMatch(/^computers failed: FatalError: The event is not what the state machine sends \(stream: /)
    expect(at.events()).toHaveLength(1)
  })

  it('SQS-10 makes one run of a schedule that fires twice, and asks the platform once', async () => {
    await at.run(at.nightly)
    const asked = { ...at.cloud.platform.counts }
    const { output } = await at.run(at.nightly)
    expect(output?.run).toMatchObject({ status: 'complete' })
    expect(at.cloud.platform.counts).toEqual(asked)
    expect(at.events()).toHaveLength(1)
  })

  it('SQS-10 waits while another run is at the stream, and reads it after that', async () => {
    const controls = { ...at.nightly, schedule: 'controls', streams: ['sessions'] }
    const [first, second] = await Promise.all([at.run(at.nightly), at.run(controls)])
    expect([first.output?.run, second.output?.run]).toMatchObject([{ status: 'complete' }, { status: 'complete' }])
    expect(at.events()).toHaveLength(2)
  })

  it('ends as failed, and says why, when another worker never lets go of a stream', async () => {
    const busy = { runId: 'r', status: 'running', reason: 'another worker is at it', retryAfterMs: null, counts: null }
    let asked = 0
    const { error } = await at.run({ ...at.nightly, streams: ['sessions'] }, async ({ stream }) => {
      asked += 1
      return { ...busy, stream, waitSeconds: 1 }
    })
    expect(asked).toBe(31)
    expect(error).toBe('sessions running: another worker is at it')
  })
})
