import type { Notice, Scan, Some } from './checkpoint.ts'
import type { OfParent } from './ports.ts'

type Counted = NonNullable<Scan['parents']>

/** No parent of which anything is to be said. */
export const noParents: Counted = { miscounted: { count: 0, first: [] }, unread: { count: 0, first: [] } }

// A checkpoint is bounded, and so is what it keeps of these.
const kept = 5

/** Counts what a page says of its parent's list. */
export function countParents(before: Counted = noParents, { completes, unread }: OfParent): Counted {
  return {
    miscounted: completes?.miscounted ? withOne(before.miscounted, completes.id) : before.miscounted,
    unread: unread ? withOne(before.unread, `${unread.id} (${unread.code})`) : before.unread,
  }
}

function withOne({ count, first }: Some, name: string): Some {
  return { count: count + 1, first: first.length < kept ? [...first, name.slice(0, 100)] : first }
}

/** What is to be said about the lists of parents, though all others were read whole. */
export function noticesOfParents(stream: string, { miscounted, unread }: Counted): Notice[] {
  const notices: Notice[] = []
  if (unread.count > 0) {
    notices.push({
      severity: 'warning',
      code: 'lists_unread',
      about: `${stream}: the lists of ${told(unread)} could not be read`,
      message: 'What is known of them stays as it is, and the next run reads them.',
    })
  }
  if (miscounted.count > 0) {
    notices.push({
      severity: 'warning',
      code: 'lists_miscounted',
      about: `${stream}: the lists of ${told(miscounted)} have another number of records than is said of them`,
      message: 'What the lists showed is kept. They are read again when their parents change.',
    })
  }
  return notices
}

function told({ count, first }: Some): string {
  const left = count - first.length
  return `${first.join(', ')}${left > 0 ? ` and ${left} more` : ''}`
}
