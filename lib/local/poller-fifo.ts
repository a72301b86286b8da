type Dequeue = (this: FifoQueue, max: number, ...rest: unknown[]) => unknown[]

/** What is touched of the emulator's queue. Groups are locked while messages of theirs are in flight. */
type FifoQueue = { fifoLockedGroups: Map<string, number>; isFifo(): boolean; dequeue: Dequeue }

/** The class of the emulator's queues. */
export type FifoQueueClass = { prototype: FifoQueue }

const taught = new WeakSet<FifoQueueClass>()

/**
 * SQS hands out up to ten messages of one group at once; the emulator hands out one, and then locks the group. Its queues
 * are taught to go on until the batch is full, and to lock the groups after that.
 */
export function severalPerGroup(queueClass: FifoQueueClass): void {
  if (taught.has(queueClass)) return
  taught.add(queueClass)
  const { prototype } = queueClass
  const dequeue = prototype.dequeue
  prototype.dequeue = function (max, visibilitySeconds, ...rest) {
    // Messages that are visible again at once would be handed out twice in one batch.
    if (!this.isFifo() || visibilitySeconds === 0) return dequeue.call(this, max, visibilitySeconds, ...rest)
    const lockedBefore = new Set(this.fifoLockedGroups.keys())
    const locks = new Map<string, number>()
    const messages: unknown[] = []
    while (messages.length < max) {
      const some = dequeue.call(this, 1, visibilitySeconds, ...rest)
      if (some.length === 0) break
      messages.push(...some)
      for (const [group, count] of this.fifoLockedGroups) {
        if (lockedBefore.has(group)) continue
        locks.set(group, (locks.get(group) ?? 0) + count)
        this.fifoLockedGroups.delete(group)
      }
    }
    for (const [group, count] of locks)
      this.fifoLockedGroups.set(group, (this.fifoLockedGroups.get(group) ?? 0) + count)
    return messages
  }
}
