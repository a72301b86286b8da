/**
 * Reads items in their order with up to `limit` reads under way, so that latency adds up once and memory stays flat.
 * Stops reading when the caller stops taking.
 */
export async function* readAhead<T, R>(
  items: Iterable<T>,
  limit: number,
  read: (item: T) => Promise<R>,
): AsyncGenerator<{ item: T; value: R }> {
  const source = items[Symbol.iterator]()
  const underWay: { item: T; value: Promise<R> }[] = []
  const fill = () => {
    while (underWay.length < limit) {
      const next = source.next()
      if (next.done) return
      const value = read(next.value)
      value.catch(() => {
        // Thrown where it is awaited.
      })
      underWay.push({ item: next.value, value })
    }
  }
  for (fill(); underWay.length > 0; fill()) {
    const { item, value } = underWay.shift() as { item: T; value: Promise<R> }
    yield { item, value: await value }
  }
}

/** The integers from `first` to `last`, both included. */
export function* range(first: number, last: number): Generator<number> {
  for (let at = first; at <= last; at++) yield at
}
