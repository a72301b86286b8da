import { GetSecretValueCommand, ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import type { Credentials } from '../platform/transport.ts'
import { callAws } from './aws-errors.ts'
import { type AwsTarget, clientSettings } from './clients.ts'

/** Reads the text of a secret, each time anew. */
export type ReadSecret = (secretId: string) => Promise<string>

/** Secrets from Secrets Manager. @throws FatalError `configuration` when a secret is missing or has no text. */
export function createSecretReader(target: AwsTarget): ReadSecret {
  const client = new SecretsManagerClient(clientSettings(target))
  return async (secretId) => {
    const { SecretString } = await callAws({ what: `read the secret ${secretId}` }, async () => {
      try {
        return await client.send(new GetSecretValueCommand({ SecretId: secretId }))
      } catch (error) {
        throw error instanceof ResourceNotFoundException ? noSecret(secretId, error) : error
      }
    })
    if (SecretString) return SecretString
    throw new FatalError(`The secret ${secretId} has no text; put the value into it with the AWS console or CLI.`, {
      code: 'configuration',
    })
  }
}

function noSecret(secretId: string, cause: unknown) {
  return new FatalError(
    `The secret ${secretId} does not exist in this region. ` +
      `Create it: aws secretsmanager create-secret --name ${secretId} --secret-string file://value.txt`,
    { code: 'configuration', cause },
  )
}

/**
 * The API key of a secret: the text itself, or JSON with `apiKey`. It is read once and again when the platform says
 * 401, so that a rotation needs no restart.
 */
export function secretCredentials(readSecret: ReadSecret, secretId: string): Credentials {
  let cached: Promise<string> | undefined
  const refresh = async () => {
    const reading = readSecret(secretId).then(apiKeyIn)
    cached = reading
    reading.catch(() => {
      cached = undefined
    })
    return await reading
  }
  return { current: async () => await (cached ?? refresh()), refresh }
}

const WithApiKey = z.object({ apiKey: z.string().min(1) })

function apiKeyIn(text: string): string {
  if (!text.trimStart().startsWith('{')) return text.trim()
  try {
    return WithApiKey.parse(JSON.parse(text)).apiKey
  } catch {
    throw new FatalError(
      'The secret of the API key is JSON without a text "apiKey"; write {"apiKey": "..."} into it.',
      {
        code: 'configuration',
      },
    )
  }
}
