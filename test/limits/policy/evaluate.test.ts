import { describe, expect, it } from 'vitest'
import { type Evaluation, evaluate, type PolicyFacts } from '../../../lib/limits/policy/evaluate.ts'
import { type PolicyUser, unmetBy } from '../../../lib/limits/policy/rules.ts'
import { rulesOf, state, user } from './fixture.ts'

const noon = Date.parse('2026-05-06T12:00:00Z')

async function held(
  policy: string,
  users: PolicyUser[],
  facts: Partial<PolicyFacts> & { lists?: Record<string, string> } = {},
) {
  const { lists, ...more } = facts
  return evaluate({
    rules: await rulesOf(policy, lists),
    users,
    members: new Map(),
    states: new Map(),
    now: noon,
    ...more,
  })
}

/** Who gets what by which rule. */
function given({ decisions }: Evaluation) {
  return Object.fromEntries(decisions.map(({ identity, limit, rule }) => [identity, `${limit} ${rule}`]))
}

const groups = `
default: 500
groups:
  - { name: eng, limit: 2000, members: { metadata: { field: department, equals: Engineering } } }
  - { name: leads, limit: 3000, priority: 5, members: { list: leads.csv } }
  - { name: guests, limit: none, priority: 9, members: { domains: [guest.io], addresses: [Gil@x.io] } }
  - { name: paid, limit: 900, members: { metadata: { field: org.plan, oneOf: [gold, 7] } } }
  - { name: tagged, limit: 800, priority: -1, members: { metadata: { field: a.b, present: true } } }
`

describe('what everybody gets', () => {
  it('is what the group of the highest priority says, else the default', async () => {
    const users = [
      user('ana@x.io', { department: 'Engineering' }),
      user('Lea@x.io', { department: 'Engineering' }),
      user('zoe@guest.io'),
      user('gil@X.io', { department: 'Engineering' }),
      user('pat@x.io', { org: { plan: 7 } }),
      user('tag@x.io', { 'a.b': 'x' }),
      user('no@x.io', { department: 'engineering', 'a.b': '', org: 'gold' }),
    ]
    const lists = { 'leads.csv': 'name,email\nLea,LEA@x.io\n' }
    expect(given(await held(groups, users, { lists }))).toEqual({
      'ana@x.io': '2000 group eng',
      'lea@x.io': '3000 group leads',
      'zoe@guest.io': 'null group guests',
      'gil@x.io': 'null group guests',
      'pat@x.io': '900 group paid',
      'tag@x.io': '800 group tagged',
      'no@x.io': '500 default',
    })
  })

  it('is contested where two groups of one priority claim somebody, whatever their limits', async () => {
    const both = user('ana@x.io', { department: 'Engineering', org: { plan: 'gold' } })
    const { contested, decisions } = await held(groups, [both, user('b@x.io')], { lists: { 'leads.csv': 'email\n' } })
    expect(contested).toEqual([{ address: 'ana@x.io', rules: ['eng', 'paid'] }])
    expect(decisions).toHaveLength(1)
  })

  it('is contested where two users of one address would get different limits', async () => {
    const two = [user('ana@x.io', { department: 'Engineering' }), user('Ana@X.io')]
    expect((await held(groups, two, { lists: { 'leads.csv': 'email\n' } })).contested).toHaveLength(1)
  })
})

describe('an override', () => {
  const policy = (zone: string) => `
timeZone: ${zone}
default: 500
overrides:
  - { email: Ana@x.io, limit: 5000, from: 2028-02-28, until: 2028-02-29, reason: migration }
`
  it.each([
    ['2028-02-27T23:59:59Z', '500 default'],
    ['2028-02-28T00:00:00Z', '5000 override'],
    ['2028-02-29T23:59:59Z', '5000 override'],
    ['2028-03-01T00:00:00Z', '500 default'],
  ])('POL-02 holds on its days, a leap day included: at %s', async (at, expected) => {
    expect(given(await held(policy('UTC'), [user('ana@x.io')], { now: Date.parse(at) }))).toEqual({
      'ana@x.io': expected,
    })
  })

  it.each([
    // Clocks in Berlin go forward on 2026-03-29 and back on 2026-10-25.
    ['Europe/Berlin', '2026-03-29', '2026-03-28T22:59:59Z', '500 default'],
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00Z', '9 override'],
    ['Europe/Berlin', '2026-03-29', '2026-03-29T21:59:59Z', '9 override'],
    ['Europe/Berlin', '2026-03-29', '2026-03-29T22:00:00Z', '500 default'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', '9 override'],
    ['Europe/Berlin', '2026-10-25', '2026-10-25T22:59:59Z', '9 override'],
    ['Europe/Berlin', '2026-10-25', '2026-10-25T23:00:00Z', '500 default'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00Z', '9 override'],
    ['America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00Z', '9 override'],
  ])('counts days in %s: on %s at %s', async (...[zone, day, at, expected]) => {
    const text = `timeZone: ${zone}\ndefault: 500\noverrides: [{ email: a@x.io, limit: 9, from: ${day}, until: ${day}, reason: r }]`
    expect(given(await held(text, [user('a@x.io')], { now: Date.parse(at) }))).toEqual({ 'a@x.io': expected })
  })

  it('says why, and until when, and gives nothing to somebody who is no user', async () => {
    const now = Date.parse('2028-02-28T12:00:00Z')
    const { decisions, nextDay } = await held(policy('UTC'), [user('ana@x.io')], { now })
    expect(decisions).toMatchObject([{ why: '2028-02-28 to 2028-02-29: migration', until: '2028-02-29', line: 5 }])
    expect(nextDay).toBe('2028-03-01')
    expect((await held(policy('UTC'), [], { now })).decisions).toEqual([])
  })
})

describe('a limit made by hand', () => {
  it.each([
    ['2026-05-06', '2026-05-06'],
    ['2026-05-05', null],
    ['2026-05-06T12:00:01Z', '2026-05-06T12:00:01Z'],
    ['2026-05-06T12:00:00Z', null],
  ])('that names %s stands until then', async (until, expected) => {
    const states = new Map([state('ana@x.io', 7, { until, sourceKind: 'file' })])
    const { decisions, nextDay } = await held('default: 500', [user('ana@x.io')], { states })
    expect(decisions.map(({ heldUntil }) => heldUntil)).toEqual([expected])
    if (until === '2026-05-06') expect(nextDay).toBe('2026-05-07')
  })

  it('does not stand where it names no time, nor does an override of the policy by its own until', async () => {
    const states = new Map([state('a@x.io', 7), state('b@x.io', 7, { until: '2030-01-01', sourceKind: 'policy' })])
    const { decisions } = await held('default: 500', [user('a@x.io'), user('b@x.io')], { states })
    expect(decisions.map(({ heldUntil }) => heldUntil)).toEqual([null, null])
  })
})

describe('somebody who is no longer in the list of users', () => {
  const policy = 'default: 500\nleavers: { set: 0, afterDays: 2 }'
  const states = new Map([state('bob@x.io', 500)])

  it('is remembered, and loses their limit so many days later', async () => {
    let members: PolicyFacts['members'] = new Map([['bob@x.io', { address: 'Bob@x.io' }]])
    const seen: unknown[] = []
    for (const day of [0, 1, 2]) {
      const evaluation = await held(policy, [], { members, states, now: noon + day * 86_400_000 })
      members = evaluation.members
      seen.push([given(evaluation), evaluation.nextDay])
    }
    expect(members.get('bob@x.io')).toEqual({ address: 'Bob@x.io', goneSince: '2026-05-06' })
    expect(seen).toEqual([
      [{}, '2026-05-08'],
      [{}, '2026-05-08'],
      [{ 'bob@x.io': '0 leavers' }, null],
    ])
  })

  it('is forgotten as a leaver when they come back', async () => {
    const members = new Map([['bob@x.io', { address: 'bob@x.io', goneSince: '2026-01-01' }]])
    const { decisions, members: after } = await held(policy, [user('bob@x.io')], { members, states })
    expect(decisions).toMatchObject([{ limit: 500, rule: 'default' }])
    expect(after.get('bob@x.io')).toEqual({ address: 'bob@x.io' })
  })

  it('is left alone where the policy does not say otherwise, or they never had a limit', async () => {
    const members = new Map([['bob@x.io', { address: 'bob@x.io', goneSince: '2026-01-01' }]])
    expect((await held('default: 500', [], { members, states })).decisions).toEqual([])
    expect((await held(policy, [], { members })).decisions).toEqual([])
    const refused = new Map([state('bob@x.io', 500, { status: 'rejected', wanted: 0 })])
    expect((await held(policy, [], { members, states: refused })).decisions).toEqual([])
  })
})

it('what a policy names and the users lack is found: groups without a member, addresses of nobody', async () => {
  const rules = await rulesOf(groups, { 'leads.csv': 'email\nana@x.io\nanna@x.io\n' })
  const unmet = unmetBy([user('ana@x.io'), user('gil@x.io')], rules)
  expect(unmet).toEqual({ groups: ['eng', 'paid', 'tagged'], addresses: ['anna@x.io'] })
})
