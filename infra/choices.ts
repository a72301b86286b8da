import * as z from 'zod'

/**
 * Endings that the stacks give to names of their own. `acme` has the schedules `acme-audit` and the database
 * `acme_iceberg`, which an installation `acme-audit` or `acme-iceberg` would have as well.
 */
export const takenEndings: readonly string[] = ['audit', 'audit-signing', 'iceberg']

function takenEnding(name: string): string | undefined {
  return takenEndings.find((ending) => name.endsWith(`-${ending}`))
}

/** The name of an installation. */
export const InstallationName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{1,19}$/, 'must be 2 to 20 lower-case letters, digits or hyphens, a letter first')
  .refine((name) => takenEnding(name) === undefined, {
    error: ({ input }) => {
      const ending = takenEnding(String(input))
      return `ends in "-${ending}", as resources of an installation "${String(input).slice(0, -`-${ending}`.length)}" do; choose another name`
    },
  })
  .default('platform-sync')
  .describe('Prefixes every resource, so that several organizations fit into one account.')

/** The account that a deployment must meet. */
export const Account = z
  .string()
  .regex(/^\d{12}$/, 'is no account; write its 12 digits')
  .optional()
  .describe('The account that a deployment must meet; any without it.')

/** The region that a deployment must meet. */
export const Region = z
  .string()
  .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'is no region; write one like eu-central-1')
  .optional()
  .describe('The region that a deployment must meet; any without it.')

/** The bus that learns of each run. A bus of another account is reached by a rule on one's own. */
export const EventBus = z
  .string()
  .regex(/^[\w./-]{1,256}$/, 'is no name of an event bus: write the name alone, not its ARN')
  .default('default')
  .describe('Where sync.run.completed is put.')

/** How secrets are encrypted that people made: the API key, and the tokens of machines. */
export const Secrets = z.strictObject({
  kmsKeyArn: z
    .string()
    .regex(/^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[\w-]+$/, 'is no ARN of a key; an alias is none')
    .optional()
    .describe('The key of the secrets, if it is not the one that Secrets Manager has for all.'),
})

/** The functions, by their names in functions/. */
export const functionNames = [
  'sync-stream',
  'publish-run',
  'write-report',
  'audit-digest',
  'apply-credit-limits',
  'apply-credit-policy',
  'import-credit-limits',
  'collect-hook-events',
  'store-hook-events',
] as const
export type FunctionName = (typeof functionNames)[number]

/** How many of each function run at a time at most, and can in any case. */
export const ReservedConcurrency = z.partialRecord(
  z.enum(functionNames),
  z.int().min(1, 'keeps the function from running at all; write 1 or more'),
)
export type ReservedConcurrency = z.infer<typeof ReservedConcurrency>

const ProxyAddress = z
  .url({ protocol: /^https?$/, error: 'is no address of a proxy; write http://host:port' })
  .refine((address) => {
    const url = URL.parse(address)
    return !url || (url.username === '' && url.password === '')
  }, 'names a user: it would stand in the template for all to read. Let the proxy know the subnets instead')

/** The network of functions. */
export const Network = z
  .strictObject({
    subnetIds: z
      .array(
        z.string().regex(/^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/, 'is no id of a subnet; write one like subnet-0a1b2c3d'),
      )
      .default([])
      .describe('The subnets in which functions run; without them they run outside of any VPC.'),
    securityGroupIds: z
      .array(
        z.string().regex(/^sg-([0-9a-f]{8}|[0-9a-f]{17})$/, 'is no id of a security group; write one like sg-0a1b2c3d'),
      )
      .default([]),
    httpsProxy: ProxyAddress.optional().describe('The proxy for requests to the platform; those to AWS never take it.'),
    noProxy: z
      .array(z.string().regex(/^[^\s,]+$/, 'is no host'))
      .default([])
      .describe('Hosts of the platform that are asked without the proxy.'),
  })
  .refine(({ subnetIds, securityGroupIds }) => subnetIds.length > 0 === securityGroupIds.length > 0, {
    error: 'has subnetIds or securityGroupIds alone; set both, or neither',
  })
export type Network = z.infer<typeof Network>
