import { type Document, isCollection, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { $ZodIssue } from 'zod/v4/core'
import { Policy } from './policy.ts'

/** A mistake in a policy, or in a list beside it, and where it stands. Both count from 1. */
export type PolicyFault = { file: string; line: number; column: number; message: string }

/** The place of what a path leads to in the text of a policy. */
export type PlaceOf = (path: readonly PropertyKey[]) => { line: number; column: number }

/** A policy as its text says it. */
export type ReadPolicy = { policy: Policy; placeOf: PlaceOf } | { faults: PolicyFault[] }

/** The most bytes of a policy: far more than anybody writes by hand. */
export const maxPolicyBytes = 2 * 1024 * 1024

/** Reads the text of a policy; every mistake is told with its line and column. `file` is its name. */
export function readPolicy(text: string, file: string): ReadPolicy {
  const deep = tooDeepAt(text)
  if (deep !== null) return { faults: [{ file, ...placeIn(text, deep), message: 'is nested deeper than any policy' }] }
  const lines = new LineCounter()
  // Without anchors that multiply, without tags that make objects of another kind: a policy is plain data.
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    strict: true,
    uniqueKeys: true,
    merge: false,
  })
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const broken = [...document.errors, ...document.warnings].map(({ pos, message }) => ({ offset: pos[0], message }))
  // An alias makes a text of a few lines as large as its writer likes, and hides where a value stands.
  const message = 'an alias (*name) can not stand here; write the value out'
  visit(document, { Alias: (_, alias) => void broken.push({ offset: startOf(alias) ?? 0, message }) })
  visit(document, {
    Scalar: (_, { source, value, range }) => {
      const why = typeof value === 'number' ? whyNotPlain(value, source ?? '') : null
      if (why !== null) broken.push({ offset: range?.[0] ?? 0, message: `${source} ${why}` })
    },
  })
  if (broken.length > 0) {
    return { faults: broken.map((each) => ({ file, ...placeAt(each.offset), message: firstLine(each.message) })) }
  }
  const placeOf: PlaceOf = (path) => placeAt(offsetOf(document, path))
  const parsed = Policy.safeParse(document.toJS() ?? {}, { reportInput: true })
  if (parsed.success) return { policy: parsed.data, placeOf }
  const issues = parsed.error.issues.flatMap(spread)
  return { faults: issues.map((issue) => ({ file, ...placeOf(issue.path), message: wordsOf(issue) })).sort(byPlace) }
}

/** Digits, as a person reads them: no powers (1e3), no other base (0x10, 0o17), no leading zero that might be one. */
const plainNumber = /^[-+]?(0|[1-9]\d*)(\.\d+)?$/

/** Why a number may be another one than its writer meant; null when it can't. */
function whyNotPlain(value: number, source: string): string | null {
  if (!plainNumber.test(source)) return 'is no number as people write it: write its digits out'
  const isSetApart = Number.isInteger(value) && /\.\d{3}$/.test(source)
  return isSetApart ? `is ${value} here, and ${source.replace('.', '')} to others: write digits only` : null
}

/** Far deeper than any part of a policy. The parser tells of each level, and beyond some hundreds not even that. */
const mostLevels = 50

/** Where a text opens more brackets or begins more blocks on one line than a policy can; null when it does nowhere. */
function tooDeepAt(text: string): number | null {
  const deep = new RegExp(`(?:[[{](?:[^\\]}#'"[{]*)){${mostLevels},}|(?:- ){${mostLevels},}|^ {500,}\\S`, 'm').exec(
    text,
  )
  return deep?.index ?? null
}

/** An issue with unknown keys is one for each key, at the key. */
function spread(issue: $ZodIssue): $ZodIssue[] {
  if (issue.code !== 'unrecognized_keys') return [issue]
  return issue.keys.map((key) => ({ ...issue, keys: [key], path: [...issue.path, key] }))
}

function wordsOf(issue: $ZodIssue): string {
  const name = issue.path.map((part) => (typeof part === 'number' ? `[${part + 1}]` : `.${String(part)}`)).join('')
  const words = issue.code === 'unrecognized_keys' ? 'is no member that a policy has here' : missingOr(issue)
  return `${name.replace(/^\./, '') || 'the policy'} ${words}`
}

/** What a value is not, for whoever wrote it. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['object', 'is no map of names and values'],
  ['array', 'is no list: write [a, b], or each entry on its own line after a dash'],
])

function missingOr(issue: $ZodIssue): string {
  if (issue.input === undefined) return 'is missing'
  if (issue.code === 'too_small' && issue.origin === 'array') return 'is empty: leave it out'
  return (issue.code === 'invalid_type' && kinds.get(issue.expected)) || issue.message
}

/** Where the deepest part of a path begins that the text has: the key of a pair, else its value. */
function offsetOf({ contents }: Document, path: readonly PropertyKey[]): number {
  let node: unknown = contents
  let offset = startOf(node) ?? 0
  for (const part of path) {
    if (!isCollection(node)) return offset
    const pair = node.items.find((item) => keyOf(item) === part) as { key: unknown; value: unknown } | undefined
    const next = pair?.value ?? node.get(part, true)
    const start = startOf(pair?.key) ?? startOf(next)
    if (start === undefined) return offset
    offset = start
    node = next
  }
  return offset
}

function keyOf(item: unknown): unknown {
  const { key } = (item ?? {}) as { key?: unknown }
  return isScalar(key) ? key.value : undefined
}

function startOf(node: unknown): number | undefined {
  return (node as { range?: [number, number, number] } | null | undefined)?.range?.[0]
}

/** Orders mistakes as their reader meets them. */
export function byPlace(a: PolicyFault, b: PolicyFault): number {
  return a.line - b.line || a.column - b.column
}

function placeIn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:?$/, '')
}
