import type { EndpointName } from './answer.ts'

/** A request that was answered. */
export type LoggedRequest = {
  method: string
  path: string
  query: string
  status: number
  endpoint: EndpointName | null
}

const kept = 10_000

/** The newest requests, oldest first, and how many each endpoint had in all. */
export type RequestLog = {
  readonly requests: LoggedRequest[]
  readonly counts: Partial<Record<EndpointName, number>>
  add(request: LoggedRequest): void
}

/** An empty log. */
export function createRequestLog(): RequestLog {
  const requests: LoggedRequest[] = []
  const counts: Partial<Record<EndpointName, number>> = {}
  const add = (request: LoggedRequest): void => {
    requests.push(request)
    if (requests.length > kept) requests.splice(0, kept / 10)
    if (request.endpoint) counts[request.endpoint] = (counts[request.endpoint] ?? 0) + 1
  }
  return { requests, counts, add }
}
