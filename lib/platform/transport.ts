import type { Deadline } from '../core/deadline.ts'
import type { Json } from '../core/json.ts'
import type { Patience } from '../core/patience.ts'

/** Which base address a path belongs to (§4): the readiness reports live under {app_url}, all else under {base_url}. */
export type Endpoint = { readonly base: 'app' | 'v0'; readonly path: `/${string}` }

/** The API key or JWT that goes into the Authorization header (§5). `refresh` reads it anew from where it is kept. */
export type Credentials = { current(): Promise<string>; refresh(): Promise<string> }

/** A credential that nothing can renew, as on a laptop. */
export function fixedCredentials(key: string): Credentials {
  return { current: async () => key, refresh: async () => key }
}

/** One request of the API, before addresses and credentials. The body is sent as JSON. */
export type ApiRequest = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT'
  readonly endpoint: Endpoint
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** What a success body says that makes it less than the whole answer; null when it is whole. Else it is asked for again. */
  readonly shortfall?: (body: Json) => string | null
  /**
   * Reads a success body in another way than whole, and may keep its bytes. Undefined for one that is to be parsed whole,
   * whose bytes are gone then.
   */
  readonly read?: (bytes: Buffer) => Json | undefined
}

/**
 * What a caller may say about one call: when to stop, how long to wait at the platform's word, and where to count each
 * HTTP request, retries included.
 */
export type CallOptions = { signal?: AbortSignal; deadline?: Deadline; patience?: Patience; onRequest?: () => void }

/** Sends a request and answers with the JSON of a success, or throws the errors of core/errors.ts. */
export type Transport = (request: ApiRequest, options?: CallOptions) => Promise<Json>
