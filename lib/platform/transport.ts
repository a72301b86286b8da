/** Which base address a path belongs to (§4): the readiness reports live under {app_url}, all else under {base_url}. */
export type Endpoint = { readonly base: 'app' | 'v0'; readonly path: `/${string}` }
