import type { Stream } from './stream.ts'

/** Into how many shards a stream of lists per parent is divided. A parent must never move to another shard, so this never changes. */
const shardCount = 64

/**
 * The streams that a stream is read as: itself, or its shards. A shard has the stream's tables, and a name, so a lease,
 * a checkpoint and an index of its own. It reads the lists of those parents whose ids fall to it.
 */
export function shardsOf(stream: Stream, count: number = shardCount): readonly Stream[] {
  const { name, parent } = stream
  if (!parent || shardLabel(name) !== '') return [stream]
  return Array.from({ length: count }, (_, n) => ({
    ...stream,
    name: `${name}/${String(n).padStart(2, '0')}`,
    parent: { ...parent, owns: (id: string) => shardOf(id, count) === n },
  }))
}

/** The part of a stream's name that tells a shard from the others; empty where the stream is not divided. */
export function shardLabel(name: string): string {
  const at = name.indexOf('/')
  return at < 0 ? '' : name.slice(at + 1)
}

/** The name of a stream without that part: the one under which people see it. */
export function withoutShard(name: string): string {
  const at = name.indexOf('/')
  return at < 0 ? name : name.slice(0, at)
}

/** FNV-1a over code units, its high bits mixed into the low ones. It says where a parent's state lies, so it never changes. */
function shardOf(id: string, count: number): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) % count
}
