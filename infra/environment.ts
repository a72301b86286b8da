import { Aws } from 'aws-cdk-lib'
import { FatalError } from '../lib/core/errors.ts'

/** What all variables of one function may come to. Lambda measures them as one JSON object. */
const maxBytes = 4_096

/** The settings that become variables of any length. All other variables are short. */
const settings: Readonly<Record<string, string>> = {
  RUN_SCHEDULES: 'schedules',
  PRIVACY_FIELDS: 'privacy',
  AUDIT_WATCH_RULES: 'watchRules',
  NO_PROXY: 'network.noProxy',
  HTTPS_PROXY: 'network.httpsProxy',
  PLATFORM_APP_URL: 'platform.appUrl',
  PLATFORM_BASE_URL: 'platform.baseUrl',
  PLATFORM_SECRET_ID: 'platform.secretName',
  HOOKS_SECRET_ID: 'hooks.secretName',
  EVENT_BUS: 'eventBus',
}

/**
 * Checks that the variables of a function fit into what Lambda takes, which it says in the middle of a deployment only.
 * @throws FatalError `configuration` that names the largest of them, and the settings that they come from.
 */
export function checkEnvironment(name: string, variables: Readonly<Record<string, string>>): void {
  const bytes = bytesOf(variables)
  if (bytes <= maxBytes) return
  const parts = Object.entries(variables).map(([variable, value]) => ({ variable, bytes: bytesOf(value) }))
  const largest = parts.sort((a, b) => b.bytes - a.bytes).slice(0, 3)
  const told = largest.map((part) => `  - ${settings[part.variable] ?? part.variable}: ${part.bytes} bytes`)
  throw new FatalError(
    `The environment of the function ${name} has ${bytes} bytes, and Lambda takes ${maxBytes}. Its largest parts are:\n${told.join('\n')}\nShorten one of them in config.ts by ${bytes - maxBytes} bytes.`,
    { code: 'configuration' },
  )
}

/** What a value comes to where it is deployed; what is not known before counts as much as it may be. */
function bytesOf(value: unknown): number {
  const text = JSON.stringify(value)
    .replaceAll(Aws.ACCOUNT_ID, '0'.repeat(12))
    .replaceAll(Aws.REGION, 'ap-southeast-0')
    .replaceAll(Aws.URL_SUFFIX, 'amazonaws.com.cn')
    .replaceAll(/\$\{Token\[[^\]]*\]\}/g, longestArn)
  return Buffer.byteLength(text)
}

/** The longest that a parameter of the stateful stack holds: the ARN of a key. */
const longestArn = `arn:aws-us-gov:kms:us-gov-west-1:${'0'.repeat(12)}:key/mrk-${'0'.repeat(32)}`
