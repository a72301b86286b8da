/** A list before it becomes text, so that faults can bend it. Records are JSON text. */
export type ListBody = {
  items: string
  records: string[]
  /** Absent where the API sends none (readiness reports, computers). */
  pagination?: { hasMore?: boolean; nextCursor?: string | null }
}

/** What is sent back: a list, or a body as it is. */
export type Answer = {
  status: number
  headers?: Record<string, string | string[]>
  body: ListBody | string | Buffer
}

/** A request that found its endpoint. */
export type Call = {
  endpoint: EndpointName
  params: Record<string, string>
  query: URLSearchParams
  /** The parsed JSON body; undefined when there is none. */
  body: unknown
  authorization: string | undefined
}

/** The twelve endpoints of §4.2, in its order. */
export const endpointNames = [
  'listReports',
  'listRevisions',
  'listSessions',
  'createSession',
  'getSession',
  'updateSession',
  'listMessages',
  'addMessage',
  'getMessage',
  'listComputers',
  'listUsers',
  'setUserLimits',
] as const
export type EndpointName = (typeof endpointNames)[number]

/** A JSON answer. */
export function json(status: number, body: unknown): Answer {
  return { status, body: JSON.stringify(body) }
}

/** An error answer; the shape is the simulator's own, since none is shown (§7). */
export function failure(status: number, code: string, message: string): Answer {
  return json(status, { error: { code, message } })
}

/** The text of a list. */
function listText({ items, records, pagination }: ListBody): string {
  return `{"${items}":[${records.join(',')}]${pagination ? `,"pagination":${JSON.stringify(pagination)}` : ''}}`
}

/** The body as it goes over the wire. */
export function bytesOf({ body }: Answer): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : listText(body))
}
