import { fileURLToPath } from 'node:url'
import { ArnFormat, type Duration, RemovalPolicy, Stack, Validations } from 'aws-cdk-lib'
import { Effect, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Architecture, type CfnFunction, LoggingFormat, Runtime, Tracing } from 'aws-cdk-lib/aws-lambda'
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { FunctionName, Network, ReservedConcurrency } from '../choices.ts'
import { checkEnvironment } from '../environment.ts'
import type { Names } from '../names.ts'

/** What all functions of an installation have alike. */
export type FunctionCommons = {
  names: Names
  logDays: RetentionDays
  environment: Record<string, string>
  network: Network
  reservedConcurrency: ReservedConcurrency
}

type Props = FunctionCommons & {
  /** The file in functions/, without extension; also the name of the function. */
  name: FunctionName
  memoryMegabytes: number
  timeout: Duration
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A function of functions/ with its own role, its own log group and nothing granted beyond writing to it. */
export class WorkerFunction extends Construct {
  readonly name: string
  readonly lambda: NodejsFunction
  readonly role: Role

  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { name, names, logDays, memoryMegabytes, timeout, network, reservedConcurrency } = props
    const environment = {
      ...props.environment,
      ...powertools(names),
      NODE_OPTIONS: nodeOptions(memoryMegabytes).join(' '),
      ...mallocOptions,
    }
    checkEnvironment(name, environment)
    const reserved = reservedConcurrency[name]
    this.name = name
    const logGroup = new LogGroup(this, 'Logs', {
      logGroupName: names.logGroup(name),
      retention: logDays,
      // Its name is fixed: a group that stayed behind would be in the way of the next deployment.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    this.role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
    logGroup.grantWrite(this.role)
    this.lambda = new NodejsFunction(this, 'Function', {
      functionName: names.function(name),
      entry: `${root}functions/${name}.ts`,
      projectRoot: root,
      depsLockFilePath: `${root}package-lock.json`,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryMegabytes,
      timeout,
      role: this.role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      tracing: Tracing.ACTIVE,
      environment,
      ...(reserved === undefined ? {} : { reservedConcurrentExecutions: reserved }),
      bundling,
    })
    if (network.subnetIds.length > 0) this.enter(network, names)
    Validations.of(this.role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason:
        'xray:PutTraceSegments and xray:PutTelemetryRecords know no resources, nor do network interfaces before they are.',
    })
  }

  /** Lambda makes interfaces in the subnets with the rights of the role. What runs in the function must not have them. */
  private enter({ subnetIds, securityGroupIds }: Network, names: Names) {
    const lambda = this.lambda.node.defaultChild as CfnFunction
    lambda.vpcConfig = { subnetIds, securityGroupIds }
    this.allow(ofInterfaces, '*')
    const functionArn = Stack.of(this).formatArn({
      ...{ service: 'lambda', resource: 'function', resourceName: names.function(this.name) },
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    this.role.addToPrincipalPolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        actions: ofInterfaces,
        resources: ['*'],
        conditions: { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } },
      }),
    )
  }

  /** Allows exactly these actions on those items of a table whose partition key is the given one. */
  allowItems(actions: string[], { table, partition }: { table: string; partition: string }): void {
    const conditions = { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [partition] } }
    this.role.addToPrincipalPolicy(new PolicyStatement({ actions, resources: [table], conditions }))
  }

  /** Allows exactly these actions on exactly these resources. */
  allow(actions: string[], ...resources: string[]): void {
    this.role.addToPrincipalPolicy(new PolicyStatement({ actions, resources }))
  }
}

/** What Lambda needs to put a function into a VPC. */
const ofInterfaces = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

function powertools({ prefix }: Names) {
  return {
    POWERTOOLS_SERVICE_NAME: prefix,
    POWERTOOLS_METRICS_NAMESPACE: metricNamespace,
    POWERTOOLS_LOG_LEVEL: 'INFO',
  }
}

/** Where all measurements of the worker stand in CloudWatch; the dimension `service` holds the installation's name. */
export const metricNamespace = 'AgentPlatformSync'

/** Memory with which a function has a whole processor, MB. With less it gets a share of one. */
export const wholeProcessor = 1_769

/**
 * How Node runs a function of so much memory, MB. The young generation is held to half of what it would take by default: a
 * sync makes much short-lived garbage, and a third less memory costs it no time (`npm run bench`). The old one gets half of
 * the memory: what grows with a stream lies outside of V8's heap, which grows the more between two collections, the more
 * it may have. Where neither is set, Lambda gives it nine tenths.
 */
export function nodeOptions(memoryMegabytes: number): string[] {
  return ['--max-semi-space-size=16', `--max-old-space-size=${Math.floor(memoryMegabytes / 2)}`]
}

/**
 * What lies outside of V8's heap comes from malloc. From this size on, bytes, each piece is mapped for itself and goes back to
 * the system when it is freed. Without a word glibc raises that bound to the largest piece that was ever freed, and keeps the
 * holes between others: a first sync takes 15 % more memory (`npm run bench`).
 */
export const mallocOptions = { MALLOC_MMAP_THRESHOLD_: '65536' }

/**
 * Everything is in the bundle, the SDK too: what runs is what was tested, whatever the runtime brings along. It is CommonJS:
 * an ES module that imports node:http makes Node load its whole `fetch` beside it (docs/decisions/fast.md).
 */
export const bundling = {
  format: OutputFormat.CJS,
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  sourceMap: true,
  sourcesContent: false,
  inject: [`${root}functions/stacks.ts`],
  esbuildArgs: {
    '--alias:@aws-sdk/credential-provider-node': `${root}functions/credentials.ts`,
    '--alias:cssomnom/parse': `${root}functions/style-sheets.ts`,
  },
  bundleAwsSDK: true,
}
