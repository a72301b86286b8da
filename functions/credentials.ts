import { fromEnv } from '@aws-sdk/credential-provider-env'

/**
 * What the SDK's clients of a bundle find in place of their chain of credentials (`bundling` in infra/constructs). Lambda
 * gives those of the function's role in the environment; the other links of the chain, and the clients of STS and SSO that
 * they bring along, are a tenth of a bundle that no function ever runs.
 */
export const defaultProvider = fromEnv
