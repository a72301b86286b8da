import { utcDate } from '../../core/clock.ts'

/** Where the collected objects lie in the lake bucket. */
export const hooksFolder = 'hooks'

/** The key under which events are stored at a time: in the order of keys, objects are in the order of time. */
export function placeOf(at: number, id: string): string {
  return `${placeAt(at)}-${id}.ndjson.gz`
}

/** The place of a time: before all objects that are stored at it, after all that were stored earlier. */
export function placeAt(at: number): string {
  return `${hooksFolder}/dt=${utcDate(at)}/${new Date(at).toISOString().replace(/[-:.]/g, '')}`
}

/** Whether a key is that of collected events. */
export function isPlace(key: string): boolean {
  return /^hooks\/dt=\d{4}-\d\d-\d\d\/\d{8}T\d{9}Z-[\w-]+\.ndjson\.gz$/.test(key)
}
