import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSigningService } from '../infra/signing-service.ts'

/** Secrets Manager and KMS as far as workers see them: secrets can be replaced, and each name of a key is a key. */
export type Services = { secrets: Map<string, string>; close(): void }

type Input = { SecretId?: string; KeyId?: string; [name: string]: unknown }

/** Starts them, and tells the SDK of this process where they are. */
export async function startServices(secrets: Map<string, string>): Promise<Services> {
  const keys = new Map<string, ReturnType<typeof createSigningService>>()
  const keyOf = (id: string) => {
    const key = keys.get(id) ?? createSigningService()
    keys.set(id, key)
    return key
  }
  const answer = (action: string, input: Input): object => {
    if (action === 'GetSecretValue') return { SecretString: secrets.get(input.SecretId ?? '') }
    const key = keyOf(input.KeyId ?? '')
    return action === 'Sign' ? key.Sign(input) : key.GetPublicKey()
  }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const action = String(request.headers['x-amz-target']).split('.').at(-1) ?? ''
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
    response.end(JSON.stringify(answer(action, JSON.parse(Buffer.concat(chunks).toString()) as Input)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const giveBack = setVariables({
    AWS_ENDPOINT_URL_SECRETS_MANAGER: address,
    AWS_ENDPOINT_URL_KMS: address,
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  })
  return {
    secrets,
    close: () => {
      giveBack()
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Sets variables of this process, and gives back a way to have the old ones again. */
function setVariables(variables: Record<string, string>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
