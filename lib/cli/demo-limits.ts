import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeLimitsCsv } from '../limits/intake/csv.ts'
import type { Plan } from '../limits/intake/plan.ts'
import type { Cli } from './command.ts'
import { sayHeading, sayParagraph } from './demo-story.ts'
import { applyPlan } from './limits-apply.ts'
import { sayPlan } from './limits-plan.ts'
import { type SavedPlan, savePlan } from './limits-saved-plans.ts'
import { type LimitsWorkspace, withLimitsIn } from './limits-workspace.ts'
import type { Output } from './output.ts'

/** The ends of the demo's credit limits, for `--json`. */
export type DemoLimits = { refused: Plan['refusals']; plan: string; rows: number; ended: Record<string, number> }

const strangers = 6
const maxLimit = 10_000

/** Sets limits of 1,000 addresses: a plan that is refused, then the corrected one, applied. */
export function demoLimits(
  cli: Cli,
  { io, users, ...within }: Pick<LimitsWorkspace, 'workspace' | 'log'> & { io: Output; users: readonly string[] },
): Promise<DemoLimits> {
  const variables = { ...within.workspace.variables, LIMITS_MAX_LIMIT: String(maxLimit) }
  const workspace = { ...within.workspace, variables }
  return withLimitsIn({ ...within, workspace }, async (opened) => {
    sayHeading('6. Limits by hand, for 1,000 people', io)
    sayParagraph(
      `A spreadsheet says what each may use; at most 10,000 is allowed. ${strangers} of the addresses are unknown to the ` +
        'platform, one is malformed, and one limit has a digit too many:',
      io,
    )
    const first = await plan(sheet(users, { tooLarge: true }), opened)
    sayPlan(first, { io, most: 3 })
    sayParagraph('\nThe digit is corrected. What the new plan says is what is sent, and no more:', io)
    const second = await plan(sheet(users, { tooLarge: false }), opened)
    sayPlan(second, { io, most: 0 })
    io.say()
    const waitMs = 60_000
    const { outcomes } = await applyPlan(second.plan, cli, { opened, io: { ...io, result: () => {} }, waitMs })
    const ended = Object.groupBy(outcomes, ({ outcome }) => outcome)
    return {
      refused: first.plan.refusals,
      plan: second.plan.id,
      rows: second.plan.changes.length + second.plan.invalid.length,
      ended: Object.fromEntries(Object.entries(ended).map(([name, some]) => [name, some.length])),
    }
  })
}

async function plan(csv: string, opened: LimitsWorkspace): Promise<SavedPlan> {
  const file = join(opened.workspace.folder ?? '.', 'limits.csv')
  await writeFile(file, csv)
  return savePlan(file, opened)
}

function sheet(users: readonly string[], { tooLarge }: { tooLarge: boolean }): string {
  const unknown = Array.from({ length: strangers }, (_, i) => `contractor${i + 1}@elsewhere.example`)
  const addresses = [...users.slice(0, 999 - strangers), ...unknown, 'jo.berg@@example.com']
  const rows = addresses.map((address, i) => ({ address, limit: 500 + (i % 8) * 250 }))
  if (tooLarge) rows[499]!.limit = 15_000
  return writeLimitsCsv(rows)
}
