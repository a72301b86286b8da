import { FatalError } from '../lib/core/errors.ts'
import type { Config } from './config.ts'

/** The account and region of the credentials, as the CDK finds them; without credentials it names neither. */
export type Place = { account?: string | undefined; region?: string | undefined }

/**
 * Keeps an installation from appearing in an account that is not its own, since a shell had other credentials.
 * @throws FatalError `configuration` that names both places.
 */
export function checkPlace({ account, region }: Pick<Config, 'account' | 'region'>, place: Place): void {
  // The CDK names a region without credentials, too: then nothing can be deployed.
  if (place.account === undefined) return
  if (account !== undefined && account !== place.account) throw elsewhere('account', account, place.account)
  if (region !== undefined && region !== place.region) throw elsewhere('region', region, place.region)
}

function elsewhere(what: keyof Place, wanted: string, found = 'none') {
  const message = `The configuration is for ${what} ${wanted}, and the credentials are for ${found}: use others (--profile, AWS_PROFILE, AWS_REGION), or correct ${what} in config.ts.`
  return new FatalError(message, { code: 'configuration' })
}
