import { App } from 'aws-cdk-lib'
import { config } from '../config.ts'
import { FatalError } from '../lib/core/errors.ts'
import { addInstallation } from './build.ts'
import { withContext } from './context.ts'

const app = new App()
try {
  addInstallation(
    app,
    withContext(config, (key) => app.node.tryGetContext(key)),
  )
} catch (error) {
  if (!(error instanceof FatalError)) throw error
  // What to set is all that there is to say: a stack would hide it.
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
