import type { Call } from '../answer.ts'
import { unit } from '../random.ts'
import { FaultRule, type ParsedRule } from './rule.ts'

/** A rule in force. */
export type Fault = { id: string; hits(): number; remove(): void }

/** A rule that strikes a request: the how-manieth request it saw, and the page tokens it saw until then. */
export type Strike = { rule: ParsedRule; request: number; tokens: readonly string[] }

/** The rules in force. */
export type FaultBook = {
  /** @throws ZodError when the rule is none. */
  add(rule: FaultRule): Fault
  /** The rules that strike this request, oldest first. */
  strikes(call: Pick<Call, 'endpoint' | 'params'>, token: string | null): Strike[]
  list(): { id: string; hits: number; rule: ParsedRule }[]
  remove(id: string): boolean
  clear(): void
}

type Entry = { id: string; number: number; rule: ParsedRule; seen: number; hits: number; tokens: string[] }

const keptTokens = 1_000

/** A book without rules. */
export function createFaultBook(seed: number): FaultBook {
  const entries = new Map<string, Entry>()
  let number = 0

  const add = (input: FaultRule): Fault => {
    number += 1
    const entry: Entry = { id: `fault-${number}`, number, rule: FaultRule.parse(input), seen: 0, hits: 0, tokens: [] }
    entries.set(entry.id, entry)
    return { id: entry.id, hits: () => entry.hits, remove: () => void entries.delete(entry.id) }
  }

  const strikes: FaultBook['strikes'] = ({ endpoint, params }, token) => {
    const striking: Strike[] = []
    for (const entry of entries.values()) {
      const { rule } = entry
      if (rule.endpoint !== '*' && rule.endpoint !== endpoint) continue
      if (rule.sessionId !== undefined && rule.sessionId !== params.sessionId) continue
      entry.seen += 1
      if (token !== null && entry.tokens.length < keptTokens) entry.tokens.push(token)
      if (!applies(entry, seed)) continue
      entry.hits += 1
      striking.push({ rule, request: entry.seen, tokens: entry.tokens })
    }
    return striking
  }

  return {
    add,
    strikes,
    list: () => [...entries.values()].map(({ id, hits, rule }) => ({ id, hits, rule })),
    remove: (id) => entries.delete(id),
    clear: () => entries.clear(),
  }
}

function applies({ rule, seen, hits, number }: Entry, seed: number): boolean {
  const { page, times, after = 0, probability } = rule
  if (seen <= after || (times !== undefined && hits >= times)) return false
  if (page !== undefined && ![page].flat().includes(seen)) return false
  return probability === undefined || unit(seed, number, seen) < probability
}
