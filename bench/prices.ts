/** List prices per call in USD, us-east-1, on-demand, as published in November 2026; check them before you budget. */
const usdPerCall = {
  'S3 PUT': 5e-6,
  'S3 POST': 5e-6,
  'S3 GET': 4e-7,
  'S3 ListObjectsV2': 5e-6,
  'S3 DeleteObjects': 0,
  'S3 PUT (multipart)': 5e-6,
  'S3 POST (multipart)': 5e-6,
  'DynamoDB GetItem': 1.25e-7,
  'DynamoDB UpdateItem': 6.25e-7,
  'DynamoDB PutItem': 6.25e-7,
  'DynamoDB Query': 1.25e-7,
} as const

/**
 * What a sync's calls cost at list price, scaled to a million records. Items up to 1 KB; batches are priced by their
 * items, so this serves syncs that write no records.
 * @throws Error for a call whose price is not listed: a cost must not be too low because something was forgotten.
 */
export function costPerMillion(calls: Record<string, number>, records: number): number {
  let usd = 0
  for (const [name, count] of Object.entries(calls)) {
    const price = (usdPerCall as Record<string, number>)[name]
    if (price === undefined) throw new Error(`the price of "${name}" is not listed in bench/prices.ts`)
    usd += price * count
  }
  return (usd / records) * 1e6
}
