import { identityOf } from '../../../lib/limits/email.ts'
import type { LimitState } from '../../../lib/limits/limit-state.ts'
import { loadPolicy } from '../../../lib/limits/policy/load-policy.ts'
import type { PolicyFault } from '../../../lib/limits/policy/read-policy.ts'
import type { PolicyUser, Rules } from '../../../lib/limits/policy/rules.ts'

/** A folder with a policy and the files beside it. */
export function folderOf(files: Record<string, string>) {
  return { read: async (name: string) => (name in files ? Buffer.from(files[name]!) : null) }
}

/** The rules of a policy without mistakes. */
export async function rulesOf(text: string, lists: Record<string, string> = {}): Promise<Rules> {
  const loaded = await loadPolicy(folderOf({ 'policy.yaml': text, ...lists }))
  if (loaded === null || 'faults' in loaded) throw new Error(`the policy has faults: ${JSON.stringify(loaded)}`)
  return loaded.rules
}

/** The mistakes of a policy, as "file:line:column message". */
export async function faultsOf(text: string, lists: Record<string, string> = {}): Promise<string[]> {
  const loaded = await loadPolicy(folderOf({ 'policy.yaml': text, ...lists }))
  return loaded !== null && 'faults' in loaded ? loaded.faults.map(faultText) : []
}

function faultText({ file, line, column, message }: PolicyFault) {
  return `${file}:${line}:${column} ${message}`
}

export function user(email: string, metadata: PolicyUser['metadata'] = {}): PolicyUser {
  return { identity: identityOf(email), address: email, metadata }
}

/** What the ledger knows of an address: a limit that stands, unless said otherwise. */
export function state(email: string, limit: number | null, fields: Partial<LimitState> = {}): [string, LimitState] {
  const identity = identityOf(email)
  const changedAt = '2026-05-01T00:00:00.000Z'
  const known = { status: 'applied', limit, certain: true, changedAt } as const
  return [identity, { identity, address: email, order: 'r', requestId: 'r', wanted: limit ?? 0, ...known, ...fields }]
}
