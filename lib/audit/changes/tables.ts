import { canonicalJson } from '../../core/canonical-json.ts'
import type { Json } from '../../core/json.ts'
import type { SettingChangeRow } from '../../streams/audit-tables.ts'
import { type Step, userOf } from './history.ts'
import { gravest } from './watch.ts'

function jsonText(value: Json | undefined) {
  return value === undefined ? null : canonicalJson(value)
}

/** The rows of a step in the warehouse, one per setting that differs. */
export function changeRowsOf({ entry, previous, changes }: Step): SettingChangeRow[] {
  const { id, email, name } = userOf(entry)
  return changes.map(({ path, kind, before, after, secret, matches }, at) => ({
    revision: entry.revision,
    entrySequence: entry.sequence,
    previousRevision: previous?.revision ?? null,
    previousEntrySequence: previous?.sequence ?? 0,
    position: at + 1,
    path,
    kind,
    before: jsonText(before),
    after: jsonText(after),
    secret,
    userId: id,
    userEmail: email,
    userName: name,
    updatedAt: typeof entry.updatedAt === 'string' ? entry.updatedAt : null,
    severity: gravest(matches.map(({ severity }) => severity)),
    rules: matches.length === 0 ? null : matches.map(({ id }) => id).join(','),
    why: matches.length === 0 ? null : matches.map(({ why }) => why).join(' '),
  }))
}
