import { paginateScan } from '@aws-sdk/client-dynamodb'
import { startEmulators } from '../../../lib/local/emulators/emulators.ts'
import { createObjectStore } from '../../../lib/stores/objects.ts'
import { localClients } from '../../stores/clients.ts'
import type { Contents, Item } from './storage.ts'

/** All that a folder of `--local` holds; nobody else may use it meanwhile. */
export async function readFolder(dir: string): Promise<Contents> {
  const emulators = await startEmulators({ dir })
  const {
    STATE_TABLE = '',
    RECORDS_TABLE = '',
    HOOKS_TABLE = '',
    LAKE_BUCKET = '',
    AUDIT_BUCKET = '',
  } = emulators.environment
  const { dynamodb, s3, destroy } = localClients(emulators.endpointUrl)
  try {
    const scan = async (TableName: string) => {
      const items: Item[] = []
      for await (const { Items } of paginateScan({ client: dynamodb }, { TableName })) items.push(...(Items ?? []))
      return items
    }
    const objects: Contents['objects'] = new Map()
    for (const bucket of [LAKE_BUCKET, AUDIT_BUCKET]) {
      const store = createObjectStore({ s3, bucket })
      for (const key of await store.list('')) objects.set(key, Buffer.from((await store.get(key)) ?? []))
    }
    const [state, records] = [await scan(STATE_TABLE), await scan(RECORDS_TABLE)]
    return { state, records, hooks: await scan(HOOKS_TABLE), objects }
  } finally {
    destroy()
    await emulators.close()
  }
}
