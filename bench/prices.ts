import { listPrices } from '../lib/report/night/cost.ts'
import type { Calls } from './calls.ts'

const { put, get, writeUnit, readUnit } = listPrices

/** List prices per call in USD. Items of state have up to 2 KB: two units to write, one to read. */
const usdPerCall = {
  'S3 PUT': put,
  'S3 POST': put,
  'S3 GET': get,
  'S3 ListObjectsV2': put,
  'S3 DeleteObjects': 0,
  'S3 PUT (multipart)': put,
  'S3 POST (multipart)': put,
  'DynamoDB GetItem': readUnit,
  'DynamoDB UpdateItem': 2 * writeUnit,
  'DynamoDB PutItem': 2 * writeUnit,
  'DynamoDB DeleteItem': 2 * writeUnit,
  'DynamoDB Query': readUnit,
} as const

/**
 * What calls cost at list price, USD. Batches are priced by their items, so that callers leave them out or have none.
 * @throws Error for a call whose price is not listed: a cost must not be too low because something was forgotten.
 */
export function usdOf(calls: Calls): number {
  let usd = 0
  for (const [name, count] of Object.entries(calls)) {
    const price = (usdPerCall as Record<string, number>)[name]
    if (price === undefined) throw new Error(`the price of "${name}" is not listed in bench/prices.ts`)
    usd += price * count
  }
  return usd
}
