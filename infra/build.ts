import { type App, Tags, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { parseConfig } from './config.ts'
import { StatefulStack } from './stateful-stack.ts'
import { StatelessStack } from './stateless-stack.ts'

/**
 * Both stacks of one installation, checked by cdk-nag.
 * @throws Error that names each wrong value of the configuration.
 */
export function addInstallation(app: App, input: unknown) {
  const config = parseConfig(input)
  const stateful = new StatefulStack(app, `${config.name}-stateful`, { config })
  const stateless = new StatelessStack(app, `${config.name}-stateless`, { config })
  stateless.addStackDependency(stateful)
  // CloudFormation does not tag dashboards everywhere.
  Tags.of(app).add('application', config.name, { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  return { stateful, stateless, config }
}
