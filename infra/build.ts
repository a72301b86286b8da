import { type App, Tags, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks } from 'cdk-nag'
import { parseConfig } from './config.ts'
import { checkPlace, type Place } from './place.ts'
import { StatefulStack } from './stateful-stack.ts'
import { StatelessStack } from './stateless-stack.ts'

/**
 * Both stacks of one installation, checked by cdk-nag.
 * @throws FatalError `configuration` that names each wrong value of the configuration, or a place that is not its own.
 */
export function addInstallation(app: App, input: unknown, place: Place = {}) {
  const config = parseConfig(input)
  checkPlace(config, place)
  const stateful = new StatefulStack(app, `${config.name}-stateful`, { config })
  const stateless = new StatelessStack(app, `${config.name}-stateless`, { config })
  stateless.addStackDependency(stateful)
  // CloudFormation does not tag dashboards everywhere.
  Tags.of(app).add('application', config.name, { excludeResourceTypes: ['AWS::CloudWatch::Dashboard'] })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app))
  return { stateful, stateless, config }
}
