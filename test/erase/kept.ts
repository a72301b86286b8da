import { gunzipSync, inflateRawSync } from 'node:zlib'
import type { Bucket, Item, Items, OldVersion } from '../../lib/erase/ports.ts'
import { textRows } from '../../lib/stores/erase-rows.ts'
import type { ObjectStore } from '../../lib/stores/objects.ts'

type Version = { version: OldVersion; bytes: Uint8Array }

/** What a bucket with versions holds, and what tables hold: copied, it is another world. */
export type Kept = {
  lake: { objects: Map<string, Uint8Array>; old: Map<string, Version> }
  inbox: { objects: Map<string, Uint8Array>; old: Map<string, Version> }
  limits: Map<string, Item>
  records: Map<string, Item>
}

/** Nothing at all. */
export function nothingKept(): Kept {
  const bucket = () => ({ objects: new Map(), old: new Map() })
  return { lake: bucket(), inbox: bucket(), limits: new Map(), records: new Map() }
}

/** The same again, for another world. */
export function copyOf(kept: Kept): Kept {
  return structuredClone(kept)
}

/** Counts writes. Throws before the `n`th, and before all after it, as if the process had died. */
export type Death = { n: number; writes: number }

function fateful(death: Death): void {
  death.writes += 1
  if (death.writes >= death.n) throw new Error('killed')
}

/** A process that lives. */
export function alive(): Death {
  return { n: Number.POSITIVE_INFINITY, writes: 0 }
}

/** A bucket that keeps versions. */
export function bucketOver(name: string, { objects, old }: Kept['lake'], death: Death = alive()): Bucket & ObjectStore {
  const write = (key: string, bytes: Uint8Array | null) => {
    const before = objects.get(key)
    const version = { key, version: `${old.size}-${objects.size}-${key}-${Math.random()}` }
    if (before) old.set(version.version, { version, bytes: before })
    if (bytes) objects.set(key, Uint8Array.from(bytes))
    else objects.delete(key)
  }
  return {
    bucket: name,
    get: async (key) => objects.get(key) ?? null,
    getRange: async (key, from, to) => objects.get(key)?.slice(from, to) ?? null,
    list: async (prefix) => [...objects.keys()].filter((key) => key.startsWith(prefix)).sort(),
    put: async (key, bytes) => {
      fateful(death)
      write(key, bytes)
    },
    copy: async (from, to) => {
      fateful(death)
      const bytes = objects.get(from)
      if (bytes) write(to, bytes)
      return bytes !== undefined
    },
    replace: async (key, change) => {
      const bytes = await change(objects.get(key) ?? null)
      if (!bytes) return
      fateful(death)
      write(key, bytes)
    },
    remove: async (keys) => {
      if (keys.length > 0) fateful(death)
      for (const key of keys) write(key, null)
    },
    oldVersions: async function* () {
      for (const { version } of [...old.values()]) yield version
    },
    getVersion: async ({ version }) => old.get(version)?.bytes ?? null,
    removeVersions: async (some) => {
      if (some.length > 0) fateful(death)
      for (const { version } of some) old.delete(version)
    },
  }
}

/** A table of items. */
export function itemsOver(stored: Map<string, Item>, death: Death = alive()): Items {
  return {
    all: async function* () {
      for (const item of [...stored.values()]) yield structuredClone(item)
    },
    change: async (before, after) => {
      fateful(death)
      const isSame = JSON.stringify(stored.get(nameOf(before))) === JSON.stringify(before)
      if (isSame) stored.set(nameOf(before), after)
      return isSame
    },
    remove: async (item) => {
      fateful(death)
      stored.delete(nameOf(item))
    },
  }
}

/** Adds items to a table. */
export function keep(stored: Map<string, Item>, items: readonly Item[]): void {
  for (const item of items) stored.set(nameOf(item), item)
}

function nameOf({ pk, sk = '' }: Item): string {
  return `${pk} ${sk}`
}

/** Everything that is kept, as text: objects as they are and unpacked, with their old versions, and items. */
export async function everythingIn({ lake, inbox, limits, records }: Kept): Promise<string> {
  const texts = [JSON.stringify([...limits]), JSON.stringify([...records])]
  for (const { objects, old } of [lake, inbox]) {
    for (const [key, bytes] of objects) texts.push(key, await textOf(key, bytes))
    for (const { version, bytes } of old.values()) texts.push(version.key, await textOf(version.key, bytes))
  }
  return texts.join('\n')
}

async function textOf(key: string, bytes: Uint8Array): Promise<string> {
  const body = Buffer.from(bytes)
  const texts = [body.toString('latin1')]
  if (key.endsWith('.gz')) texts.push(gunzipSync(body).toString())
  if (key.endsWith('.avro')) texts.push(unpackedBlock(body))
  if (key.endsWith('.parquet')) for await (const row of textRows(body)) texts.push(JSON.stringify(row))
  return texts.join('\n')
}

/** The one block of an Avro file lies between two marks of 16 bytes, behind two numbers of 1 to 10 bytes together. */
function unpackedBlock(body: Buffer): string {
  const start = body.indexOf(body.subarray(-16)) + 16
  const numbers = body.subarray(start, start + 10)
  const lastOf = (from: number) => numbers.findIndex((byte, at) => at >= from && byte < 128)
  const count = lastOf(0)
  return inflateRawSync(body.subarray(start + lastOf(count + 1) + 1, -16)).toString('latin1')
}
