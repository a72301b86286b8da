import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { FatalError } from '../core/errors.ts'
import { ofKnownForm } from '../core/form.ts'
import { PublishState } from '../publish/manifest.ts'
import type { Publications } from '../publish/ports.ts'
import { createLeasedItems, type LeasedItem } from './leased-items.ts'

/** The partition of the state table that holds the publisher's item. */
export const publisherPartition = 'publisher'

const key = { pk: publisherPartition, sk: 'lake' }

/** The publisher's state in the state table: one item, leased like a stream. */
export function createPublications(deps: { dynamodb: DynamoDBClient; table: string }): Publications {
  const items = createLeasedItems(deps)
  return {
    acquire: async (claim) => {
      const taken = await items.acquire(key, claim)
      return 'heldBy' in taken ? taken : { state: stateOf(taken) }
    },
    save: ({ fence, ...state }, lease) => items.save(key, { lease: { ...lease, fence }, state: textOf(state) }),
    behind: async () => {
      const item = await items.read(key)
      return item ? stateOf(item).behind : {}
    },
  }
}

const form = { what: "publisher's state", newest: 2 }

/** A version that knows nothing of tables that are behind must not forget them: with any it is of form 2. */
function textOf({ publishedAt, pending, behind }: Omit<PublishState, 'fence'>): string {
  const state = { publishedAt, pending }
  return JSON.stringify(Object.keys(behind).length === 0 ? state : { version: 2, ...state, behind })
}

function stateOf({ fence, state }: LeasedItem): PublishState {
  if (state === null) return { fence, publishedAt: '', pending: null, behind: {} }
  try {
    return {
      ...PublishState.omit({ fence: true }).parse(ofKnownForm(JSON.parse(state), form)),
      fence,
    }
  } catch (cause) {
    if (cause instanceof FatalError) throw cause
    const message = `the publisher's state can't be read: remove the item ${key.pk}/${key.sk} from the state table`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}
