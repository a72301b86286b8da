import type { RecordChange } from './record-rule.ts'

/** Bends one record of a page; a page without that record stays as it is. */
export function mutateRecords(records: readonly string[], index: number, change: RecordChange): string[] {
  const text = records[index]
  if (text === undefined) return [...records]
  if (change.do === 'duplicate') return records.toSpliced(index + 1, 0, text)
  if (change.do === 'olderCopyFirst') return [olderCopy(text, change), ...records]
  if (change.do === 'olderCopyLater') return [...records, olderCopy(text, change)]
  return records.with(index, mutate(text, change))
}

type OfOne = Exclude<RecordChange, { do: 'duplicate' | 'olderCopyFirst' | 'olderCopyLater' }>

function mutate(text: string, change: OfOne): string {
  switch (change.do) {
    case 'replace':
      return JSON.stringify(change.value)
    case 'remove':
      return withField(text, change.field, () => undefined)
    case 'rawNumber':
      return withField(text, change.field, () => rawMarker).replace(`"${rawMarker}"`, change.text)
    case 'loneSurrogate':
      return withField(text, change.field, (old) => `${typeof old === 'string' ? old : ''}\ud83d`)
    default:
      return withField(text, change.field, () => change.value)
  }
}

const rawMarker = '__raw_number__'

type Tree = { [key: string]: unknown }

function withField(text: string, path: string, change: (old: unknown) => unknown): string {
  const record = JSON.parse(text) as Tree
  const keys = path.split('.')
  const last = keys.pop() as string
  let parent = record
  for (const key of keys) {
    if (typeof parent[key] !== 'object' || parent[key] === null) parent[key] = {}
    parent = parent[key] as Tree
  }
  parent[last] = change(parent[last])
  return JSON.stringify(record)
}

function olderCopy(text: string, { field, value }: { field: string; value: unknown }): string {
  return withField(withField(text, 'updatedAt', older), field, () => value)
}

function older(updatedAt: unknown): unknown {
  if (typeof updatedAt === 'number') return updatedAt - 60_000
  return typeof updatedAt === 'string' ? new Date(Date.parse(updatedAt) - 60_000).toISOString() : undefined
}
