import { ErrorRow, UpdatedRow } from '../../platform/schemas/credit-limits.ts'
import { identityOf } from '../email.ts'
import type { OutgoingLimit } from '../limit-state.ts'
import type { LimitsAnswer } from '../ports.ts'

/** What an answer means for one address. */
export type Verdict = { status: 'applied' | 'rejected' | 'unaccounted'; reason: string | null }

/** What the rows of one address say. `unclear`: why one of them can't be read. */
type Said = { limits: Set<number>; faults: string[]; unclear: string | null }

/**
 * Reads the platform's answer row by row, and finds each address in it, in whatever case it comes back. What can't be
 * read makes only its own address unaccounted for; a row that names nobody, or somebody who was not asked for, changes
 * nothing.
 */
export function verdictsOf({ updated, errors }: LimitsAnswer): (outgoing: OutgoingLimit) => Verdict {
  const said = new Map<string, Said>()
  const notes = [...listFault('updated', updated), ...listFault('errors', errors)]
  let nameless = 0
  const each = (list: unknown, read: (row: unknown, about: Said) => void) => {
    for (const row of Array.isArray(list) ? list : []) {
      const named = ErrorRow.safeParse(row)
      if (named.success) read(row, saidOf(said, named.data.email))
      else nameless += 1
    }
  }
  each(updated, readUpdated)
  each(errors, readError)
  if (nameless > 0) notes.push(`${nameless} of its rows name no address`)
  return (outgoing) => verdict(outgoing, said.get(outgoing.identity), notes)
}

function saidOf(said: Map<string, Said>, email: string): Said {
  const identity = identityOf(email)
  const known = said.get(identity) ?? { limits: new Set(), faults: [], unclear: null }
  said.set(identity, known)
  return known
}

function readUpdated(row: unknown, about: Said): void {
  const { data } = UpdatedRow.safeParse(row)
  if (data) about.limits.add(data.limit)
  else about.unclear ??= 'the platform says that it was set, but its limit is missing or no integer'
}

// A platform may list everybody with an error that is null: without a word on what is wrong, a row refuses nobody.
function readError(row: unknown, about: Said): void {
  const { email: _, error, ...others } = ErrorRow.parse(row)
  const fault = saysNothing(error) ? faultIn(others) : textOf(error)
  if (fault === null) about.unclear ??= 'the platform lists the address among its errors, and names none'
  else about.faults.push(fault)
}

/** The fault as other fields of a row tell it, such as `code` and `message`. */
function faultIn(fields: Record<string, unknown>): string | null {
  const telling = Object.entries(fields).filter(([, value]) => !saysNothing(value))
  return telling.length === 0 ? null : textOf(Object.fromEntries(telling))
}

function saysNothing(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === undefined || value === false || value === ''
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value)
  } catch (error) {
    // The writer of JSON works by recursion, its reader does not.
    if (error instanceof RangeError) return 'the platform names an error that is nested too deeply to be shown'
    throw error
  }
}

function listFault(name: string, list: unknown): string[] {
  return (list ?? null) === null || Array.isArray(list) ? [] : [`its "${name}" is no list`]
}

function verdict({ limit: wanted }: OutgoingLimit, said: Said | undefined, notes: readonly string[]): Verdict {
  if (!said) return unaccounted(["the platform's answer does not mention the address", ...notes].join('; '))
  const { limits, faults, unclear } = said
  const [fault] = faults
  if (unclear !== null) return unaccounted(unclear)
  if (fault !== undefined && limits.size > 0) {
    return unaccounted(`the platform says that it was set, and that it was not: ${fault}`)
  }
  if (fault !== undefined) return { status: 'rejected', reason: fault }
  if (limits.size === 1 && limits.has(wanted)) return { status: 'applied', reason: null }
  if (limits.size > 1) return unaccounted(`the platform says that it set the limits ${[...limits].join(' and ')}`)
  return unaccounted(`the platform says that it set the limit ${[...limits][0]} instead`)
}

function unaccounted(reason: string): Verdict {
  return { status: 'unaccounted', reason }
}
