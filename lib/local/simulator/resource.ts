import type { Life, Population } from './population.ts'

/** A generated resource: who lives, and what they look like. */
export type RecordGenerator = {
  readonly population: Population
  /** The field that identifies a record. */
  readonly idField: string
  idOf(life: Life): string
  /** Where the record of an id stands in the list, when an id of the generator's. */
  positionOf(id: string): number | undefined
  record(life: Life, id: string): Record<string, unknown>
}

/** Where a list goes on; records of positions past `written` were written through the API or by a test. */
type Slice = { records: string[]; next: number | null }

export type SliceRequest = {
  start: number
  limit: number
  keep?: ((record: Record<string, unknown>) => boolean) | undefined
}

/** A resource as the platform shows it: what is generated, under what was written. Records are JSON text. */
export type Resource = {
  readonly idField: string
  slice(request: SliceRequest): Slice
  get(id: string): string | undefined
  /** Where a record stands in the list, also one that is gone by now. */
  positionOf(id: string): number | undefined
  /** Sets a record's text, whatever it holds; one of an unknown id joins the end of the list. */
  put(id: string, text: string): void
  /** Takes a record away; false when there was none. */
  remove(id: string): boolean
  /** How many records live now (walks the whole list). */
  count(): number
  /** The records that were written rather than generated. */
  writtenRecords(): string[]
}

const written = 2 ** 40

/** Lays the written records over the generated ones. */
export function createResource(generator: RecordGenerator): Resource {
  const { population, idField } = generator
  const layer: Layer = { generator, overlay: new Map(), extras: [] }
  const { overlay, extras } = layer

  const positionOf = (id: string): number | undefined => {
    const extra = extras.indexOf(id)
    return extra >= 0 ? written + extra : generator.positionOf(id)
  }
  const get = (id: string): string | undefined => {
    const position = positionOf(id)
    return position === undefined ? undefined : textAt(layer, position)
  }
  const put = (id: string, text: string): void => {
    const position = positionOf(id)
    if (position === undefined || (position < written && !population.at(position))) extras.push(id)
    overlay.set(id, text)
  }
  const remove = (id: string): boolean => {
    const existed = get(id) !== undefined
    if (existed) overlay.set(id, null)
    return existed
  }
  const count = (): number => {
    let live = 0
    for (const at of positionsFrom(layer, 0)) live += lives(layer, at) ? 1 : 0
    return live
  }
  const writtenRecords = () => [...overlay.values()].filter((text) => text !== null)
  return { idField, slice: (request) => sliceOf(layer, request), get, positionOf, put, remove, count, writtenRecords }
}

/** Written records by id (null: taken away), and the ids of those that no generator knows, in the order they came. */
type Layer = { generator: RecordGenerator; overlay: Map<string, string | null>; extras: string[] }

function textAt({ generator, overlay, extras }: Layer, position: number): string | undefined {
  if (position >= written) return overlay.get(extras[position - written] as string) ?? undefined
  const life = generator.population.at(position)
  if (!life) return undefined
  const id = generator.idOf(life)
  const override = overlay.size > 0 ? overlay.get(id) : undefined
  return override === undefined ? JSON.stringify(generator.record(life, id)) : (override ?? undefined)
}

function lives(layer: Layer, position: number): boolean {
  return layer.overlay.size > 0
    ? textAt(layer, position) !== undefined
    : layer.generator.population.at(position) !== undefined
}

function* positionsFrom({ generator, extras }: Layer, start: number): Generator<number> {
  const generated = generator.population.positions()
  for (let at = start; at < generated; at += 1) yield at
  for (let at = Math.max(start, written); at < written + extras.length; at += 1) yield at
}

function sliceOf(layer: Layer, { start, limit, keep }: SliceRequest): Slice {
  const records: string[] = []
  for (const at of positionsFrom(layer, start)) {
    if (records.length === limit && !keep) {
      if (lives(layer, at)) return { records, next: at }
      continue
    }
    const text = textAt(layer, at)
    if (text === undefined || (keep && !keep(JSON.parse(text) as Record<string, unknown>))) continue
    if (records.length === limit) return { records, next: at }
    records.push(text)
  }
  return { records, next: null }
}
