import { createStorageClients, type StorageClients } from '../../lib/stores/storage.ts'

/** Clients for emulators at an address. */
export function localClients(endpointUrl: string): StorageClients {
  return createStorageClients({
    region: 'us-east-1',
    endpointUrl,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
}
