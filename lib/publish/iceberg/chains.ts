/**
 * Things in as few chains as there can be, in each of which one follows another. They come in the order of where they
 * begin.
 */
export function chainsOf<T>(things: readonly T[], follows: (next: T, last: T) => boolean): T[][] {
  const chains: T[][] = []
  for (const each of things) {
    const chain = chains.find((some) => follows(each, some.at(-1) as T))
    if (chain) chain.push(each)
    else chains.push([each])
  }
  return chains
}
