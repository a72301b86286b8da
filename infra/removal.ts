import { RemovalPolicy } from 'aws-cdk-lib'

/** What holds data outlives its stack; only a first deployment that fails takes it back, so that the next one can succeed. */
export const kept = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
