/** Lists the lines that differ between two texts, each with `-` or `+` before it: a longest common subsequence stays. */
export function changedLines(before: string, after: string): string[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  const common = commonLengths(a, b)
  const changed: string[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i += 1
      j += 1
    } else if (i < a.length && (j === b.length || at(common, i + 1, j) >= at(common, i, j + 1)))
      changed.push(`-${a[i++]}`)
    else changed.push(`+${b[j++]}`)
  }
  return changed
}

/** For each pair of places, how many lines the rests have in common. */
function commonLengths(a: readonly string[], b: readonly string[]): number[][] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = lengths[i] ?? []
    for (let j = b.length - 1; j >= 0; j -= 1) {
      row[j] = a[i] === b[j] ? at(lengths, i + 1, j + 1) + 1 : Math.max(at(lengths, i + 1, j), at(lengths, i, j + 1))
    }
  }
  return lengths
}

function at(lengths: readonly number[][], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
