import { type AwsClients, createAwsClients } from '../../lib/stores/clients.ts'

/** Clients for emulators at an address. */
export const localClients = (endpointUrl: string): AwsClients =>
  createAwsClients({
    region: 'us-east-1',
    endpointUrl,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
