import { describe, expect, it } from 'vitest'
import { verdictsOf } from '../../../lib/limits/apply/answer-rows.ts'
import { allOutcomes, at, intent, message, outcomesOf, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const { users } = platform
const [ana, bob, cy, dan, eve, fay] = users as [string, string, string, string, string, string]

function odd(answer: { fields?: Record<string, unknown>; drop?: string[]; rows?: Record<string, unknown> }) {
  platform.simulator.fault({ kind: 'limitsAnswer', endpoint: 'setUserLimits', ...answer })
}

/** Applies limits of 5 for some addresses; what became of each, with the reason. */
async function applied(...emails: string[]) {
  const { apply, reader } = workerOn(platform)
  const { failed } = await apply([message(intent(Object.fromEntries(emails.map((email) => [email, 5]))))])
  const outcomes = await allOutcomes(reader)
  const ends = emails.map((email) => {
    const found = outcomes.find(({ identity }) => identity === email.toLowerCase())
    return [found?.outcome, found?.reason]
  })
  return { failed, ends, puts: platform.puts.length }
}

describe('an answer whose list is empty', () => {
  it.each([
    ['null errors', { fields: { errors: null } }],
    ['no errors', { drop: ['errors'] }],
    ['errors that are an empty object', { fields: { errors: {} } }],
  ])('counts all the same: %s (PROV-08)', async (_what, answer) => {
    odd(answer)
    expect(await applied(ana, bob)).toEqual({
      failed: [],
      ends: [
        ['applied', null],
        ['applied', null],
      ],
      puts: 1,
    })
  })

  it.each([[{ fields: { updated: null } }], [{ drop: ['updated'] }]])(
    'tells of those who failed alone (%j, PROV-08)',
    async (answer) => {
      odd(answer)
      expect((await applied('nobody@x.io')).ends).toEqual([['rejected', 'user not found']])
    },
  )

  it.each([
    [{ drop: ['updated', 'errors'] }],
    [{ fields: { updated: null, errors: null } }],
    [{ fields: { updated: 2, errors: 'none' } }],
  ])('is another shape when there is no list at all: %j', async (answer) => {
    odd(answer)
    const { failed, ends, puts } = await applied(ana)
    expect(failed).toMatchObject([{ code: 'unexpected_body', reason: expect.stringContaining('"errors"') }])
    expect([ends, puts]).toEqual([[[undefined, undefined]], 1])
  })
})

describe('an odd row', () => {
  it('costs only itself among a hundred, and nothing is sent again (ROW-01)', async () => {
    const { apply, reader } = workerOn(platform)
    odd({
      fields: {
        errors: [
          { email: ana, error: null },
          { email: fay, error: { code: 7, message: 'no seat' } },
        ],
      },
      rows: {
        ...{ [ana]: 'gone', [bob]: { email: bob, limit: '5' }, [cy]: { email: null, limit: 5 } },
        ...{ [dan]: { email: dan, limit: 'many' }, [eve]: { email: 'stranger@x.io', limit: 5 }, [fay]: null },
      },
    })
    const hundred = users.slice(0, 100)
    const batch = [message(intent(Object.fromEntries(hundred.map((email) => [email, 5]))))]
    expect((await apply(batch)).failed).toEqual([])
    expect((await apply(batch.map((one) => ({ ...one, receiveCount: 2 })))).failed).toEqual([])
    expect(platform.puts).toHaveLength(1)
    const ends = outcomesOf(await allOutcomes(reader), 'request-1')
    const six = ['unaccounted', 'applied', 'unaccounted', 'unaccounted', 'unaccounted', 'rejected']
    expect(ends).toEqual([...six, ...Array(94).fill('applied')])
    const reasonOf = async (email: string) => (await reader.outcomesOf(email))[0]?.reason
    expect(await reasonOf(ana)).toContain('among its errors, and names none')
    expect(await reasonOf(cy)).toBe("the platform's answer does not mention the address; 3 of its rows name no address")
    expect(await reasonOf(dan)).toContain('missing or no integer')
    expect(await reasonOf(fay)).toBe('{"code":7,"message":"no seat"}')
    expect((await reader.statesWithPending([dan])).get(dan)).toMatchObject({ status: 'unaccounted', certain: false })
  })

  it('costs no other message of its group an outcome (ROW-01)', async () => {
    const { apply, reader } = workerOn(platform)
    odd({ fields: { errors: [{ email: ana, error: null }] } })
    const result = await apply([
      message(intent({ [ana]: 1 }, { requestId: 'odd' })),
      message(intent({ [bob]: 2 }, { requestId: 'other', requestedAt: at(1) })),
    ])
    expect(result.failed).toEqual([])
    const outcomes = await allOutcomes(reader)
    expect([outcomesOf(outcomes, 'odd'), outcomesOf(outcomes, 'other')]).toEqual([['unaccounted'], ['applied']])
  })
})

describe('the rows of one address', () => {
  const outgoing = { identity: 'a@x.io', address: 'a@x.io', order: '1', requestId: 'r', limit: 5 }
  function verdict(updated: unknown, errors: unknown) {
    const { status, reason } = verdictsOf({ updated, errors })(outgoing)
    return reason === null ? status : `${status}: ${reason}`
  }
  const email = 'A@x.io'
  const deep = JSON.parse(`${'[1,'.repeat(100_000)}1${']'.repeat(100_000)}`)

  it.each([
    ['a limit as text', [{ email, limit: ' 5 ' }], [], 'applied'],
    [
      'a limit twice',
      [
        { email, limit: 5 },
        { email, limit: '5' },
      ],
      [],
      'applied',
    ],
    [
      'two limits',
      [
        { email, limit: 5 },
        { email, limit: 7 },
      ],
      [],
      'unaccounted: .* 5 and 7',
    ],
    ['a limit with a fraction, as text', [{ email, limit: '5.0' }], [], 'unaccounted: .*missing or no integer'],
    ['a limit of too many digits', [{ email, limit: '90071992547409931' }], [], 'unaccounted: .*missing or no integer'],
    ['no limit', [{ email }], [], 'unaccounted: .*missing or no integer'],
    ['a number as error', [], [{ email, error: 404 }], 'rejected: 404'],
    [
      'an error that is told in other fields',
      null,
      [{ email, code: 'gone', message: '' }],
      'rejected: {"code":"gone"}',
    ],
    ['an error that is nested deeply', null, [{ email, error: deep }], 'rejected: .*nested too deeply to be shown'],
    ['an error that is empty', [], [{ email, error: '' }], 'unaccounted: .*names none'],
    ['an error that is {}', [], [{ email, error: {} }], 'unaccounted: .*names none'],
    ['set, and an error of null', [{ email, limit: 5 }], [{ email, error: null }], 'unaccounted: .*names none'],
    ['set, and an error', [{ email, limit: 5 }], [{ email, error: 'x' }], 'unaccounted: .*that it was not: x'],
    ['a list that is none', [], 'none', 'unaccounted: .*does not mention the address; its "errors" is no list'],
    ['set, and errors that are no list', [{ email, limit: 5 }], 'none', 'applied'],
  ])('%s', (...[, updated, errors, expected]) => {
    expect(verdict(updated, errors)).toMatch(new RegExp(`^${expected}$`))
  })
})
