import { describe, expect, it } from 'vitest'
import { useExecutions } from '../executions.ts'

describe('tables that take longer than a call of publish-run', () => {
  const at = useExecutions()

  it('have it called again after the run was told', async () => {
    at.publishLooks = 16
    let calls = 0
    const real = at.followUp
    at.followUp = (event) => {
      calls += 1
      expect(at.events()).toHaveLength(1)
      return real(event)
    }
    expect(await at.run(at.nightly)).toMatchObject({
      output: { run: { status: 'complete', failure: null, goOn: false } },
    })
    expect(calls).toBe(1)
    const [event, ...others] = at.events()
    expect(others).toEqual([])
    const entries = event?.input.Entries as unknown as { Detail: string }[]
    const { status, behind } = JSON.parse(entries[0]!.Detail)
    expect({ status, behind }).toMatchObject({ status: 'complete', behind: expect.any(Array) })
    expect(behind.at(-1)).toMatchObject({ table: 'session_tags_current', reason: null })
  })

  it('do so a bounded number of times; then the run fails with what they lack', async () => {
    at.publishLooks = 16
    let calls = 0
    const failure = 'table sessions_current is behind since 2026-11-28T02:00:00.000Z: there was no time for it yet'
    at.followUp = async () => ({ status: 'complete', failure, goOn: ++calls > 0 })
    expect((await at.run(at.nightly)).error).toBe(failure)
    expect(calls).toBe(40)
    at.publishLooks = null
    expect((await at.run({ ...at.nightly, schedule: 'later' })).error).toBeUndefined()
  })
})
