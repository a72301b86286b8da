import { decodeManifestList } from '../../lib/publish/iceberg/manifests.ts'
import { currentSnapshot, TableMetadata } from '../../lib/publish/iceberg/metadata.ts'
import type { Stored } from './contents.ts'
import type { Day } from './day.ts'

/** What a night cost, and what an installation of its age holds. */
export type Figures = {
  night: number
  calls: number
  idleCalls: number | null
  objects: number
  bytes: number
  items: number
  /** The most objects beside data files that a reader of one table opens: the list of manifests, and these. */
  opened: number
}

/** The figures after a day. */
export function figuresOf({ plan, calls }: Day, stored: Stored): Figures {
  const bodies = [...stored.objects.values(), ...stored.inbox.values()]
  return {
    night: plan.night,
    calls: calls.night,
    idleCalls: calls.idle,
    objects: bodies.length,
    bytes: bodies.reduce((sum, { length }) => sum + length, 0),
    items: [stored.state, stored.records, stored.limits, stored.hooks].reduce((sum, { length }) => sum + length, 0),
    opened: Math.max(0, ...openedOf(stored).values()),
  }
}

/** How many objects a reader of each table opens. */
export function openedOf({ objects }: Stored): Map<string, number> {
  const opened = new Map<string, number>()
  for (const [key, version] of objects) {
    const [, table] = /^iceberg\/(\w+)\/metadata\/version-hint\.text$/.exec(key) ?? []
    if (table === undefined) continue
    const text = objects.get(`iceberg/${table}/metadata/v${`${version}`.trim()}.metadata.json`)
    const snapshot = currentSnapshot(TableMetadata.parse(JSON.parse(`${text}`)))
    const list = snapshot?.['manifest-list'].replace(/^.*\/(?=iceberg\/)/, '')
    const manifests = list ? decodeManifestList(objects.get(list)!, list) : []

    opened.set(table, 1 + manifests.length)
  }
  return opened
}

/** The most manifests of a table that a reader opens beside its list (lib/publish/iceberg merges them). */
const mostOpened = 40
/** Idle nights may differ by this: retries, and what is done every so many nights. */
const idleSpread = 0.1

/** What grows with the age of an installation and must not. */
export function growthBroken(figures: readonly Figures[]): string[] {
  const newest = figures.at(-1)
  if (!newest) return []
  const idle = figures.flatMap(({ idleCalls }) => idleCalls ?? [])
  const [first = 0] = idle
  const last = newest.idleCalls ?? 0
  return [
    ...(last > first * (1 + idleSpread) ? [`an idle night takes ${last} calls; the first one took ${first}`] : []),
    ...(newest.opened > mostOpened ? [`a reader of a table opens ${newest.opened} objects`] : []),
  ]
}
