import type { EndpointName } from './answer.ts'

type Route = { endpoint: EndpointName; method: string; pattern: RegExp }

function route(endpoint: EndpointName, method: string, path: string): Route {
  return {
    endpoint,
    method,
    pattern: new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
  }
}

const routes: readonly Route[] = [
  route('listReports', 'GET', '/api/organization/maturity-level-reports'),
  route('listRevisions', 'GET', '/api/v0/organization/enterprise-controls/history'),
  route('listSessions', 'GET', '/api/v0/sessions'),
  route('createSession', 'POST', '/api/v0/sessions'),
  route('getSession', 'GET', '/api/v0/sessions/{sessionId}'),
  route('updateSession', 'PATCH', '/api/v0/sessions/{sessionId}'),
  route('listMessages', 'GET', '/api/v0/sessions/{sessionId}/messages'),
  route('addMessage', 'POST', '/api/v0/sessions/{sessionId}/messages'),
  route('getMessage', 'GET', '/api/v0/sessions/{sessionId}/messages/{messageId}'),
  route('listComputers', 'GET', '/api/v0/computers'),
  route('listUsers', 'GET', '/api/v0/organization/users'),
  route('setUserLimits', 'PUT', '/api/v0/organization/usage/limits/users'),
]

/** Finds the endpoint of a request; `wrongMethod` when the path is known and the method is not. */
export function findRoute(
  method: string,
  path: string,
): { endpoint: EndpointName; params: Record<string, string> } | 'wrongMethod' | undefined {
  let pathKnown = false
  for (const { endpoint, method: wanted, pattern } of routes) {
    const match = pattern.exec(path)
    if (!match) continue
    if (wanted === method) return { endpoint, params: decoded(match.groups ?? {}) }
    pathKnown = true
  }
  return pathKnown ? 'wrongMethod' : undefined
}

function decoded(groups: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeComponent(value)]))
}

function decodeComponent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
