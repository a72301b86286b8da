import type { PolicyRoot } from '../compose/limits-policy.ts'
import type { LimitChange } from '../limits/intake/plan.ts'
import { dayIn } from '../limits/policy/calendar.ts'
import { type KeptPolicy, keepPolicy } from '../limits/policy/keep-policy.ts'
import { policyFile } from '../limits/policy/load-policy.ts'
import type { LimitOutcome } from '../streams/limit-outcome.ts'
import type { Cli } from './command.ts'
import { sayHeading, sayParagraph } from './demo-story.ts'
import { followPlan } from './limits-apply.ts'
import { openPolicyRoot } from './limits-policy-folder.ts'
import { type LimitsWorkspace, withLimitsIn } from './limits-workspace.ts'
import { number, type Output, tableText } from './output.ts'

const dayMs = 86_400_000

/** The ends of the demo's policy, for `--json`. */
export type DemoPolicy = { joined: number; left: number; raisesEnded: number }

type Demo = Pick<LimitsWorkspace, 'workspace' | 'log'> & { io: Output }

/** A policy begins: everybody gets a limit, and one person a raise for a day. It goes by yesterday's clock. */
export function demoPolicyBegins(cli: Cli, { io, ...within }: Demo): Promise<void> {
  return withLimitsIn(within, async (opened) => {
    const root = openPolicyRoot(opened)
    const yesterday = cli.clock.now() - dayMs
    const lines = await policyOf(root, dayIn('UTC', yesterday))
    await root.writePolicy(policyFile, Buffer.from(lines.join('\n')))
    sayParagraph('\nA policy says what each of them may use. The first night sets it, as one plan:', io)
    for (const line of lines) io.say(io.style('dim', `  ${line}`))
    io.say()
    const deps = root.policyDeps()
    const clock = { ...deps.clock, now: () => deps.clock.now() - dayMs }
    sayEnds(await follow(await keepPolicy({ ...deps, clock }), cli, { opened, io }), io)
  })
}

/** The night after: who joined gets a limit, who left loses theirs, and the raise ends by itself. */
export function demoPolicyGoesOn(cli: Cli, { io, ...within }: Demo): Promise<DemoPolicy> {
  return withLimitsIn(within, async (opened) => {
    sayHeading('5. A policy keeps credit limits true', io)
    const kept = await keepPolicy(openPolicyRoot(opened).policyDeps())
    const changes = kept.status === 'queued' ? kept.kept.plan.changes : []
    const joined = changes.filter(({ kind }) => kind === 'new')
    const left = changes.filter(({ rule }) => rule === 'leavers')
    const ended = changes.filter((change) => !joined.includes(change) && !left.includes(change))
    sayParagraph(
      `A night later nobody made a file: ${joined.length} people joined, ${left.length} left, and a raise has ended. One of each, ` +
        'with the rule that decided. The platform knows nobody any more who left, and says so:',
      io,
    )
    const one = (what: string, [change]: LimitChange[]) => (change ? [rowOf(what, change)] : [])
    const rows = [...one('joined', joined), ...one('left', left), ...one('raise ended', ended)]
    io.say(
      tableText(
        [{ title: '' }, { title: 'who' }, { title: 'limit', right: true }, { title: 'rule' }, { title: 'why' }],
        rows,
      ),
    )
    io.say()
    sayEnds(await follow(kept, cli, { opened, io }), io)
    return { joined: joined.length, left: left.length, raisesEnded: ended.length }
  })
}

function rowOf(what: string, { email, from, limit, rule = '', why = '' }: LimitChange): string[] {
  return [what, email, `${from === null ? '' : `${number(from)} -> `}${number(limit)}`, `${rule}`, `${why}`]
}

/** Follows what was sent without a word of its own. */
async function follow(
  kept: KeptPolicy,
  cli: Cli,
  here: { opened: LimitsWorkspace; io: Output },
): Promise<LimitOutcome[]> {
  if (kept.status !== 'queued') return []
  const io = { ...here.io, say: () => {}, result: () => {} }
  return (await followPlan({ plan: kept.kept.plan, ...kept }, cli, { ...here, io, waitMs: 60_000 })).outcomes
}

function sayEnds(outcomes: readonly LimitOutcome[], io: Output): void {
  const ends = Map.groupBy(outcomes, ({ outcome, reason }) => (reason === null ? outcome : `${outcome} (${reason})`))
  io.say([...ends].map(([end, some]) => `${number(some.length)} ${end}`).join(', '))
}

/** A policy in which somebody has a raise on one day. */
async function policyOf(root: PolicyRoot, day: string): Promise<string[]> {
  const scan = await root.policyDeps().users.newest()
  const [first] = 'read' in scan ? await scan.read() : []
  const raise = `email: ${first?.address}, limit: 9000, from: ${day}, until: ${day}, reason: a release`
  return [
    'default: 400',
    'groups:',
    '  - { name: engineers, limit: 2100, members: { metadata: { field: department, equals: Engineering } } }',
    'overrides:',
    `  - { ${raise} }`,
    'leavers: { set: 0 }',
    'guard: { changesPerNight: 2000, total: 2000000 }',
  ]
}
