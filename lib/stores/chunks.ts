type First = { held: Uint8Array[]; rest: AsyncIterator<Uint8Array> | Iterator<Uint8Array> | null }

/** The beginning of something, somewhat more than `bytes`, and what follows it; null when that is all. */
export async function firstOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, bytes: number): Promise<First> {
  const rest = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  const held: Uint8Array[] = []
  for (let size = 0; size <= bytes; ) {
    const next = await rest.next()
    if (next.done) return { held, rest: null }
    held.push(next.value)
    size += next.value.byteLength
  }
  return { held, rest }
}

/** A beginning that was held, and what follows it. */
export async function* inTurn(held: Uint8Array[], rest: NonNullable<First['rest']>): AsyncGenerator<Uint8Array> {
  yield* held
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}
