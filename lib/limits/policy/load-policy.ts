import { RejectedError } from '../../core/errors.ts'
import { contentHash, sha256 } from '../../core/hash.ts'
import { identityOf, readEmail } from '../email.ts'
import { emailColumns } from '../intake/columns.ts'
import { unguarded } from '../intake/csv.ts'
import { csvTable } from '../intake/csv-table.ts'
import { cellText, type FileTable } from '../intake/table.ts'
import type { Group, Policy } from './policy.ts'
import { byPlace, maxPolicyBytes, type PlaceOf, type PolicyFault, readPolicy } from './read-policy.ts'
import { type GroupRule, limitOf, type OverrideRule, type Rules } from './rules.ts'

/** Where a policy and its lists lie: a folder, or one of the inbox bucket. */
export type PolicyFolder = {
  /** Reads a file beside the policy; null when there is none. */
  read(name: string): Promise<Uint8Array | null>
}

/** The file of the policy, where nobody names another one. */
export const policyFile = 'policy.yaml'

/** Rules that can be asked, or all that is wrong with them. */
export type LoadedPolicy = { rules: Rules } | { faults: PolicyFault[] }

/** Loads a policy with its lists; null when there is no such file. A policy with any mistake changes nothing. */
export async function loadPolicy(folder: PolicyFolder, file: string = policyFile): Promise<LoadedPolicy | null> {
  const bytes = await folder.read(file)
  if (bytes === null) return null
  const text = textOf(bytes)
  if (text === null) {
    const message = `is no UTF-8 text of at most ${maxPolicyBytes} bytes`
    return { faults: [{ file, line: 1, column: 1, message }] }
  }
  const read = readPolicy(text, file)
  if ('faults' in read) return read
  const lists = new Map<string, Uint8Array | null>()
  for (const { members } of read.policy.groups) {
    if (members.list !== undefined) lists.set(members.list, await folder.read(members.list))
  }
  return compiled({ ...read, file, lists, version: versionOf(bytes, lists) })
}

function versionOf(bytes: Uint8Array, lists: ReadonlyMap<string, Uint8Array | null>): string {
  const parts = [...lists].map(([name, list]) => [name, list && sha256(list)])
  return contentHash([sha256(bytes), parts.sort()]).slice(0, 12)
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > maxPolicyBytes) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

type Compiling = {
  policy: Policy
  placeOf: PlaceOf
  file: string
  lists: ReadonlyMap<string, Uint8Array | null>
  version: string
}

function compiled(from: Compiling): LoadedPolicy {
  const { policy, placeOf, version } = from
  const faults: PolicyFault[] = []
  const groups = policy.groups.map((group, i) => groupRule(group, i, { ...from, faults }))
  const overrides = overrideRules({ ...from, faults })
  if (faults.length > 0) return { faults: faults.sort(byPlace) }
  const lineOf = (path: PropertyKey[]) => placeOf(path).line
  return {
    rules: { version, policy, defaultLine: lineOf(['default']), leaversLine: lineOf(['leavers']), groups, overrides },
  }
}

type Finding = Compiling & { faults: PolicyFault[] }

function groupRule({ name, limit, priority, members }: Group, at: number, from: Finding): GroupRule {
  const { policy, placeOf, file, faults } = from
  if (policy.groups.findIndex((other) => other.name === name) !== at) {
    faults.push({ file, ...placeOf(['groups', at, 'name']), message: `the group "${name}" stands twice` })
  }
  const named = new Set<string>()
  for (const [i, text] of (members.addresses ?? []).entries()) {
    const email = readEmail(text)
    if ('identity' in email) named.add(email.identity)
    else faults.push({ file, ...placeOf(['groups', at, 'members', 'addresses', i]), message: email.reason })
  }
  for (const identity of listed(members.list, at, from)) named.add(identity)
  return {
    ...{ name, priority, named },
    ...limitOf(limit),
    line: placeOf(['groups', at]).line,
    domains: new Set((members.domains ?? []).map(identityOf)),
    condition: members.metadata ?? null,
  }
}

/** The people in a list: a CSV file with a column of e-mail addresses, in any form in which limits are read, too. */
function listed(list: string | undefined, at: number, { file, lists, placeOf, faults }: Finding): string[] {
  if (list === undefined) return []
  const bytes = lists.get(list)
  const rows = bytes ? rowsOf(list, bytes) : `there is no file ${list} beside the policy`
  if (typeof rows === 'string') {
    faults.push({ file, ...placeOf(['groups', at, 'members', 'list']), message: rows })
    return []
  }
  const [header, ...records] = rows
  const [column, another] = emailColumns(header)
  if (column === undefined || another !== undefined) {
    const message = `its first line names ${another === undefined ? 'no column email' : 'the column email twice'}`
    faults.push({ file: list, line: header?.line ?? 1, column: 1, message })
    return []
  }
  return records.flatMap((record) => {
    const email = 'cells' in record ? readEmail(unguarded(cellText(record.cells[column] ?? ''))) : record
    if ('identity' in email) return [email.identity]
    faults.push({ file: list, line: record.line, column: 1, message: email.reason })
    return []
  })
}

/** The rows of a list, or why it has none that can be read. */
function rowsOf(list: string, bytes: Uint8Array): FileTable['rows'] | string {
  if (bytes.length > maxPolicyBytes) return `${list} is larger than ${maxPolicyBytes} bytes: divide it among two groups`
  try {
    return csvTable(bytes).rows
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error
    return `${list} is no CSV that can be read: save it as "CSV UTF-8", with commas, semicolons or tabs`
  }
}

function overrideRules({ policy, placeOf, file, faults }: Finding): Map<string, OverrideRule[]> {
  const rules = new Map<string, OverrideRule[]>()
  for (const [i, { email: text, limit, from, until, reason }] of policy.overrides.entries()) {
    const place = placeOf(['overrides', i])
    const email = readEmail(text)
    if ('reason' in email) {
      faults.push({ file, ...placeOf(['overrides', i, 'email']), message: email.reason })
      continue
    }
    const before = rules.get(email.identity) ?? []
    const other = before.find((one) => one.from <= until && from <= one.until)
    if (other) {
      const message = `line ${other.line} overrides the same person on some of the same days`
      faults.push({ file, ...place, message })
    }
    rules.set(email.identity, [...before, { line: place.line, limit, from, until, reason }])
  }
  return rules
}
