import { sha256 } from '../core/hash.ts'
import { policyPlaces } from '../limits/inbox-places.ts'

/** Where the policy lies in the inbox bucket: text that an organization keeps itself. */
export const policyFolder = policyPlaces.policy

/** Where the plans and the memory of the policy lie. */
export const policyPlans = 'policy-'

/** Where what was erased is on record, in the lake bucket. */
export const erasuresFolder = 'erasures/'

/** The object that holds what a person is found by, until all of it is done: what was found by may be gone by then. */
export function workKey(fingerprint: string): string {
  return `${erasuresFolder}begun/${fingerprint}.json`
}

/** The object that says that a person was erased. */
export function doneKey(at: number, fingerprint: string): string {
  return `${erasuresFolder}${new Date(at).toISOString().replace(/[-:.]/g, '')}-${fingerprint}.json`
}

/** The key of what a file became. Whoever repeats it writes the same one; a file that names another size is never overwritten. */
export function rewrittenKey(key: string, fingerprint: string): string {
  const [folder = '', extension = ''] = [/^.*\//.exec(key)?.[0], /\.(?:parquet|ndjson\.gz)$/.exec(key)?.[0]]
  return `${folder}${sha256(`${key}\n${fingerprint}`).slice(0, 20)}${extension}`
}
