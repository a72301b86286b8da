import { readFile, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { composeInspect, type InspectRoot } from '../compose/inspect.ts'
import { composePolicyFolder } from '../compose/limits-policy.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/folders.ts'
import { identityOf } from '../limits/email.ts'
import { makePlan, type Plan, parsePlan } from '../limits/intake/plan.ts'
import { readLimitsFile } from '../limits/intake/read-file.ts'
import type { LimitRows } from '../limits/intake/rows.ts'
import type { LimitState } from '../limits/limit-state.ts'
import { policyFile } from '../limits/policy/load-policy.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'

/**
 * A plan as it was saved; `knowsUsers`: whether the users were synced, so that unknown addresses can be told;
 * `unfinished`: messages of earlier requests that were not applied yet; `setBack`: changes that name no time until when
 * they stand, so that the policy sets them back tonight; `notes`: how its file was read.
 */
export type SavedPlan = {
  plan: Plan
  path: string
  knowsUsers: boolean
  unfinished: number
  setBack: number
  notes: string[]
}

/**
 * Compares a file with the ledger, and saves what applying it would do.
 * @throws FatalError `usage` when there is no such file, RejectedError when it can't be read as a whole.
 */
export async function savePlan(file: string, opened: LimitsWorkspace, until?: string): Promise<SavedPlan> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new FatalError(`The file ${file} can't be read: ${messageOf(cause)}.`, { code: 'usage', cause })
  })
  const read = await readLimitsFile(bytes, opened.limits.rules)
  const rows = until === undefined ? read : { ...read, rows: read.rows.map((row) => ({ until, ...row })) }
  return await saveRows({ source: basename(file), rows }, opened)
}

/** Compares rows with the ledger, and saves what applying them would do. `states`: where it was when they were made. */
export async function saveRows(
  { source, rows, states }: { source: string; rows: LimitRows; states?: ReadonlyMap<string, LimitState> },
  opened: LimitsWorkspace,
): Promise<SavedPlan> {
  const { workspace, limits, plans } = opened
  // Counted before the ledger is read: what ends in between is in the ledger then.
  const unfinished = await limits.unfinished()
  const known = states ?? (await limits.reader.statesWithPending(new Set(rows.rows.map(({ identity }) => identity))))
  const knownUsers = await usersOf(workspace.open(composeInspect))
  const common = { knownUsers, rules: limits.rules, sendsAll: unfinished > 0 }
  const plan = makePlan({ source, file: rows, states: known, ...common })
  const path = join(plans, `${plan.id}.json`)
  makeFolder(plans)
  await writeFile(path, `${JSON.stringify(plan, null, 2)}\n`)
  const open = plan.changes.filter(({ until }) => until === undefined).length
  const setBack = open > 0 && (await hasPolicy(opened)) ? open : 0
  return { plan, path: relative('.', path), knowsUsers: knownUsers !== null, unfinished, setBack, notes: rows.notes }
}

/** Loads a saved plan. @throws FatalError `usage` when there is none of that id. */
export async function loadPlan(id: string, plans: string): Promise<Plan> {
  const none = () =>
    new FatalError(`There is no plan ${id} in ${plans}. Make one: platform-sync limits plan FILE`, { code: 'usage' })
  if (!/^[0-9a-f]{16}$/.test(id)) throw none()
  const text = await readFile(join(plans, `${id}.json`), 'utf8').catch(() => {
    throw none()
  })
  const plan = parsePlan(text)
  if (plan.id !== id) throw none()
  return plan
}

/** Whether a policy says who gets what: one in the inbox bucket, or a file that was applied here. */
async function hasPolicy({ workspace }: LimitsWorkspace): Promise<boolean> {
  if (!workspace.variables.INBOX_BUCKET) return false
  const { folder, store } = workspace.open(composePolicyFolder)
  return (await folder.read(policyFile)) !== null || (await store.memory()) !== null
}

/** The users of the last sync, from the published files of their one table; null when they were never synced. */
async function usersOf({ checkpoints, ...published }: InspectRoot): Promise<Set<string> | null> {
  if (!(await checkpoints.read('organization_users'))?.lastScan) return null
  const { askLake } = await import('./lake-database.ts')
  const sql = 'select distinct email from organization_users_current where email is not null'
  const { rows } = await askLake(published, sql)
  return new Set(rows.map(([email]) => identityOf(String(email))))
}
