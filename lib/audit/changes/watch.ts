import * as z from 'zod'
import type { Json } from '../../core/json.ts'
import { lazyStrictObject } from '../../core/schema.ts'
import { Severity } from '../trail/finding.ts'
import type { SettingChange } from './diff.ts'

/** Conditions on a change for a rule to match. All that are given must hold. */
const Condition = lazyStrictObject(() => ({
  kind: z
    .array(z.enum(['added', 'removed', 'changed']))
    .optional()
    .describe('How the setting differs.'),
  becomes: z.union([z.boolean(), z.number(), z.string(), z.null()]).optional().describe('The value it has now.'),
  was: z.union([z.boolean(), z.number(), z.string(), z.null()]).optional().describe('The value it had.'),
  number: z.enum(['lower', 'higher']).optional().describe('How the number moved.'),
  raisedIn: z
    .array(z.string())
    .optional()
    .describe('Values from low to high: it moved up, or to or from a value that is not among them.'),
  emptied: z.boolean().optional().describe('The last item was removed from a list.'),
  secret: z.boolean().optional().describe('Whether a secret differs.'),
}))

/** A rule that says which changes deserve attention. */
export const WatchRule = lazyStrictObject(() => ({
  id: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .describe('Short name, unique.'),
  paths: z
    .array(z.string().min(1))
    .min(1)
    .describe('Settings, as `sandbox.enabled`; `*` is any one part, `**` any number.'),
  when: Condition.default({}),
  severity: Severity,
  why: z.string().min(1).describe('One sentence on why it matters.'),
}))
export type WatchRule = z.infer<typeof WatchRule>

/** A change that a rule matches. */
export type WatchMatch = Pick<WatchRule, 'id' | 'severity' | 'why'>

/** Matches a change with the rules. */
export type Watch = (change: SettingChange) => WatchMatch[]

/** Compiles rules. Of two with one id the later counts, so that a configuration can replace a rule of ours. */
export function createWatch(rules: readonly WatchRule[]): Watch {
  const compiled = [...new Map(rules.map((rule) => [rule.id, rule])).values()].map((rule) => ({
    rule,
    matches: pathMatcher(rule.paths),
  }))
  return (change) =>
    compiled
      .filter(({ rule, matches }) => matches(change.path) && holds(rule.when, change))
      .map(({ rule: { id, severity, why } }) => ({ id, severity, why }))
}

const order: Record<Severity, number> = { critical: 0, warning: 1, info: 2 }

/** The highest of several severities; null of none. */
export function mostSevere(severities: readonly Severity[]): Severity | null {
  return severities.toSorted((a, b) => order[a] - order[b])[0] ?? null
}

/** The segments of a path: names, and what stands in brackets. */
function segmentsOf(path: string): string[] {
  return path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? []
}

function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const compiled = patterns.map(segmentsOf)
  return (path) => {
    const segments = segmentsOf(path)
    return compiled.some((pattern) => matchSegments(pattern, segments))
  }
}

function matchSegments([first, ...rest]: string[], segments: string[]): boolean {
  if (first === undefined) return segments.length === 0
  if (first === '**')
    return matchSegments(rest, []) || segments.some((_, at) => matchSegments(rest, segments.slice(at)))
  const [segment, ...others] = segments
  return (
    segment !== undefined &&
    (first === '*' || first === '[*]' ? first === '*' || segment.startsWith('[') : first === segment) &&
    matchSegments(rest, others)
  )
}

function holds(when: WatchRule['when'], { kind, before, after, secret, itemsAfter }: SettingChange): boolean {
  return (
    (when.kind === undefined || when.kind.includes(kind)) &&
    (when.becomes === undefined || after === when.becomes) &&
    (when.was === undefined || before === when.was) &&
    (when.number === undefined || moved(before, after) === when.number) &&
    (when.raisedIn === undefined || isRaised(when.raisedIn, before, after)) &&
    (when.emptied === undefined || (kind === 'removed' && itemsAfter === 0) === when.emptied) &&
    (when.secret === undefined || secret === when.secret)
  )
}

function moved(before: Json | undefined, after: Json | undefined): 'lower' | 'higher' | null {
  if (typeof before !== 'number' || typeof after !== 'number' || before === after) return null
  return after < before ? 'lower' : 'higher'
}

/** A value that is not in the list may be anything, so that it deserves a look. */
function isRaised(levels: readonly string[], before: Json | undefined, after: Json | undefined): boolean {
  const from = before === undefined ? 0 : levels.indexOf(String(before))
  const to = levels.indexOf(String(after))
  return after === undefined || to === -1 || from === -1 || to > from
}
