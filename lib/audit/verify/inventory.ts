import { keysPrefix } from '../trail/digest.ts'
import type { TrailReader } from '../trail/ports.ts'
import { type Series, sequenceOf } from '../trail/sealed.ts'
import type { Fault } from './walk.ts'

/** The keys of all that is stored of a trail. Digests sort before entries, so that what they vouch for is listed later. */
export type Inventory = Record<Series, string[]> & { signatures: Set<string>; publicKeys: Set<string> }

/** Lists a trail, and reports what does not belong there. */
export async function takeInventory(reader: TrailReader, report: (fault: Fault) => void): Promise<Inventory> {
  const found: Inventory = { entries: [], findings: [], digests: [], signatures: new Set(), publicKeys: new Set() }
  for (const key of await reader.list('audit/')) {
    const series = key.split('/')[1] as Series
    if (series in found && sequenceOf(series, key) !== null) found[series].push(key)
    else if (/^audit\/digests\/\d{10}\.sig$/.test(key)) found.signatures.add(key)
    else if (key.startsWith(keysPrefix) && /^[0-9a-f]{64}\.pem$/.test(key.slice(keysPrefix.length))) {
      found.publicKeys.add(key)
    } else report({ kind: 'unexpected', place: key, message: 'has no name that belongs to a trail' })
  }
  return found
}
