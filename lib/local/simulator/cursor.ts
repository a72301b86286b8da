/** The page token of the v0 lists: opaque to clients, a position inside the list to the simulator. */

/** Makes a token; `fresh` tells apart tokens of one position. */
export function cursorOf(position: number, fresh?: number): string {
  return Buffer.from(JSON.stringify(fresh === undefined ? { p: position } : { p: position, f: fresh })).toString(
    'base64url',
  )
}

/** The position of a token, or undefined when it is none of ours. */
export function positionOfCursor(cursor: string): number | undefined {
  try {
    const { p } = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as { p?: unknown }
    return Number.isSafeInteger(p) && (p as number) >= 0 ? (p as number) : undefined
  } catch {
    return undefined
  }
}
