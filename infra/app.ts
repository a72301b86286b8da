import { App } from 'aws-cdk-lib'
import { config } from '../config.ts'
import { addInstallation } from './build.ts'
import { withContext } from './context.ts'

const app = new App()
addInstallation(
  app,
  withContext(config, (key) => app.node.tryGetContext(key)),
)
