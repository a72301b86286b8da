import { streams } from '../streams/index.ts'
import type { Erasing } from './erasing.ts'
import { type Found, isNamed } from './find.ts'
import type { Finder } from './person.ts'
import type { Item } from './ports.ts'

/** Takes a person out of items of tables: an item that is theirs goes, in others what names them is replaced. */
export async function eraseItems(items: Found['items'], { finder, lease, deps }: Erasing): Promise<void> {
  for (const { name, item } of items) {
    await lease.stillMine()
    const table = deps[name]
    if (isTheirs(item, finder)) await table?.remove(item)
    // One that changed meanwhile is found again: the erasure says that something is left.
    else await table?.change(item, without(item, finder))
  }
}

/** Whether the key of an item names the person. */
function isTheirs({ pk, sk }: Item, finder: Finder): boolean {
  return isNamed(pk, finder) || isNamed(sk, finder) || isAboutThem({ pk }, finder)
}

function isAboutThem({ pk }: Item, finder: Finder): boolean {
  const about = streams.filter((stream) => stream.about).map(({ name }) => `${name}#`)
  return typeof pk === 'string' && about.some((prefix) => pk.startsWith(prefix) && finder.is(pk.slice(prefix.length)))
}

function without(item: Item, finder: Finder): Item {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, valueWithout(value, { item, finder })]))
}

type Within = { item: Item; finder: Finder }

function valueWithout(value: unknown, within: Within): unknown {
  const { item, finder } = within
  if (typeof value === 'string') {
    if (!finder.isIn(value)) return value
    return isLog(item) ? logWithout(value, finder) : finder.without(value)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, valueWithout(inner, within)]))
}

function isLog({ pk }: Item): boolean {
  return typeof pk === 'string' && pk.startsWith('log#')
}

/** The ledger's log names outcomes by address: those of the person are in it no more, as the outcomes themselves are gone. */
function logWithout(text: string, finder: Finder): string {
  const entries: unknown = JSON.parse(text)
  return Array.isArray(entries)
    ? JSON.stringify(entries.filter((entry) => !isNamed(entry, finder)))
    : finder.without(text)
}
