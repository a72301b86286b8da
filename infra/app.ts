import { App } from 'aws-cdk-lib'
import { config } from '../config.ts'
import { processVariables } from '../lib/core/env.ts'
import { FatalError } from '../lib/core/errors.ts'
import { addInstallation } from './build.ts'
import { withContext } from './context.ts'

const app = new App()
const { CDK_DEFAULT_ACCOUNT, CDK_DEFAULT_REGION } = processVariables()
try {
  addInstallation(
    app,
    withContext(config, (key) => app.node.tryGetContext(key)),
    { account: CDK_DEFAULT_ACCOUNT, region: CDK_DEFAULT_REGION },
  )
} catch (error) {
  if (!(error instanceof FatalError)) throw error
  // What to set is all that there is to say: a stack would hide it.
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
