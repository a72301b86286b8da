import { type AwsClients, createAwsClients } from '../../lib/stores/clients.ts'

/** Clients for emulators at an address. */
export function localClients(endpointUrl: string): AwsClients {
  return createAwsClients({
    region: 'us-east-1',
    endpointUrl,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
}
