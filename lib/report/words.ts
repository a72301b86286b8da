/** 12345 as 12,345. */
export function amount(value: number): string {
  return value.toLocaleString('en-US')
}

/** A number of things: 1 record, 12,345 records. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${amount(value)} ${value === 1 ? one : many}`
}

/** A duration in words: 40 s, 3 min, 5 h, 2 days. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 100) return `${seconds} s`
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`
}
