/** The queue between receiving and storing. */
export type HookQueue = {
  /** Puts one message on the queue; it is durable when this returns. */
  send(body: string): Promise<void>
}

/** The place of an event among the collected objects, and the message that brought it there. */
export type Claim = { delivery: string; place: string }

/**
 * Who stores which event. A machine that heard no answer sends an event again, in another message: the message that
 * claimed it first is the one that stores it.
 */
export type HookClaims = {
  /**
   * Claims an event until a time (Unix ms). Null when it is the caller's; else the claim that stands. `instead`: a claim
   * that may be replaced.
   */
  claim(id: string, claim: Claim, options: { until: number; instead?: Claim }): Promise<Claim | null>
}

/** The collected objects in the lake bucket. */
export type HookObjects = {
  /** Writes the whole object or nothing. */
  write(key: string, bytes: Uint8Array): Promise<void>
  /** Reads an object; null when there is none. */
  read(key: string): Promise<Uint8Array | null>
  /** The first keys after a place, in the order of their bytes; fewer than `count` when there are no more. */
  keysAfter(place: string, count: number): Promise<string[]>
}
