import { gzipSync } from 'node:zlib'
import { type Answer, type Call, failure } from '../answer.ts'
import type { ParsedRule } from './rule.ts'

/** The page token of a request, of either kind. */
export function tokenOf({ query }: Pick<Call, 'query'>): string | null {
  return query.get('cursor') ?? query.get('startAfter')
}

/** The answer that a rule gives instead of the platform's; undefined when it gives none. */
export function answerInstead(rule: ParsedRule, call: Call): Answer | undefined {
  switch (rule.kind) {
    case 'status':
      return { status: rule.status, headers: rule.headers ?? {}, body: bodyOf(rule.body ?? defaultBody(rule.status)) }
    case 'html200':
      return { status: 200, headers: { 'content-type': 'text/html' }, body: rule.html ?? '<h1>Back soon</h1>' }
    case 'json200':
      return { status: 200, body: JSON.stringify(rule.body ?? null) }
    case 'empty204':
      return { status: 204, body: '' }
    case 'rawGzip':
      return { status: 200, body: gzipSync('{"reports":[],"sessions":[],"users":[]}') }
    case 'redirect':
      return { status: rule.status, headers: { location: rule.location }, body: '' }
    case 'echoKey':
      return { status: rule.status, body: JSON.stringify({ message: `bad token ${call.authorization ?? ''}` }) }
    case 'expireCursor':
      return tokenOf(call) === null ? undefined : failure(rule.status, 'invalid_cursor', 'cursor has expired')
    default:
      return undefined
  }
}

function bodyOf(body: unknown): string {
  return typeof body === 'string' ? body : JSON.stringify(body)
}

function defaultBody(status: number): unknown {
  return {
    error: { code: `simulated_${status}`, message: `simulated status ${status}` },
  }
}
