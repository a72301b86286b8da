import { gzipSync } from 'node:zlib'
import { type Answer, type Call, failure } from '../answer.ts'
import type { ParsedRule } from './rule.ts'

/** The page token of a request, of either kind. */
export const tokenOf = ({ query }: Pick<Call, 'query'>): string | null => query.get('cursor') ?? query.get('startAfter')

/** The answer that a rule gives instead of the platform's; undefined when it gives none. */
export const answerInstead = (rule: ParsedRule, call: Call): Answer | undefined => {
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

const bodyOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

const defaultBody = (status: number): unknown => ({
  error: { code: `simulated_${status}`, message: `simulated status ${status}` },
})
