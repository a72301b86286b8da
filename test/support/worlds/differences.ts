/** Where two values differ, as `path: left / right`, a few at most; empty when they are the same. */
export function differences(left: unknown, right: unknown, path = ''): string[] {
  if (JSON.stringify(left) === JSON.stringify(right)) return []
  if (!isTree(left) || !isTree(right)) return [`${path}: ${short(left)} / ${short(right)}`]
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].flatMap((key) => differences(left[key], right[key], `${path}.${key}`)).slice(0, 4)
}

function isTree(value: unknown): value is { [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}

function short(value: unknown) {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 160)
}
