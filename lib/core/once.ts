/** A function that makes a value when it is first called, and answers that one ever after. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}
