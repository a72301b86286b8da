import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { afterAll } from 'vitest'
import { addInstallation } from '../../infra/build.ts'
import type { ConfigInput } from '../../infra/config.ts'
import { platform } from './platform.ts'

export { platform }

type Resource = {
  Type: string
  Properties: Record<string, unknown>
  DeletionPolicy?: string
  UpdateReplacePolicy?: string
}

/** What synth wrote. */
export type Synthesized = {
  outdir: string
  terminationProtection: boolean | undefined
  stateful: Template
  stateless: Template
  /** Findings of cdk-nag and of the CDK itself. */
  findings: unknown[]
  resources(type: string): [string, Resource][]
}

const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: Record<string, unknown> }

const outdirs: string[] = []

afterAll(() => {
  for (const outdir of outdirs) rmSync(outdir, { recursive: true, force: true })
})

/** An app as cdk.json runs it, its output in a folder of its own. Functions are bundled on demand only: it takes long. */
export function appFor({ bundle = false } = {}): App {
  const outdir = mkdtempSync(join(tmpdir(), 'platform-sync-cdk-'))
  outdirs.push(outdir)
  return new App({ outdir, context: { ...context, 'aws:cdk:bundling-stacks': bundle ? ['**'] : [] } })
}

const known = new Map<string, Synthesized>()

/** The stacks of a configuration, as templates. The same configuration is synthesized once per test file. */
export function synthesize(input: Partial<ConfigInput> = {}, options: { bundle?: boolean } = {}): Synthesized {
  const id = JSON.stringify([input, options])
  const found = known.get(id) ?? synthesizeNow(input, options)
  known.set(id, found)
  return found
}

function synthesizeNow(input: Partial<ConfigInput>, options: { bundle?: boolean }): Synthesized {
  const app = appFor(options)
  const stacks = addInstallation(app, { platform, ...input })
  const { directory } = app.synth()
  const stateful = Template.fromStack(stacks.stateful)
  const stateless = Template.fromStack(stacks.stateless)
  const resources = (type: string) =>
    [stateful, stateless].flatMap((template) =>
      Object.entries(template.findResources(type) as Record<string, Resource>),
    )
  const { terminationProtection } = stacks.stateful
  return { outdir: directory, terminationProtection, stateful, stateless, findings: findingsIn(directory), resources }
}

function findingsIn(outdir: string): unknown[] {
  const report = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8')) as {
    pluginReports: { violations: unknown[] }[]
  }
  return report.pluginReports.flatMap(({ violations }) => violations)
}

const account: Record<string, string> = {
  'AWS::AccountId': '123456789012',
  'AWS::Partition': 'aws',
  'AWS::Region': 'us-east-1',
  'AWS::URLSuffix': 'amazonaws.com',
}

/** A value of a template as an account would see it; references to resources become their logical ids. */
export function resolved(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (Array.isArray(value)) return value.map(resolved).join(',')
  const [[key, argument] = ['', undefined]] = Object.entries(value as Record<string, unknown>)
  if (key === 'Ref') return account[argument as string] ?? (argument as string)
  if (key === 'Fn::GetAtt') return (argument as string[]).join('.')
  if (key === 'Fn::Join') {
    const [separator, parts] = argument as [string, unknown[]]
    return parts.map(resolved).join(separator)
  }
  throw new Error(`can't resolve ${JSON.stringify(value)}`)
}

/** The properties of a function. */
export function functionNamed(name: string, { resources: all }: Synthesized = synthesize()) {
  return all('AWS::Lambda::Function').find(
    ([, { Properties }]) => Properties.FunctionName === `platform-sync-${name}`,
  )![1].Properties
}

/** The environment that the template gives a function, unresolved. */
export function variablesOf(template: Synthesized, name: string) {
  return (functionNamed(name, template).Environment as { Variables: Record<string, string> }).Variables
}

/** What a schedule starts the state machine with. */
export function scheduledInput(
  { resources: all }: Synthesized,
  name: string,
): { streams: string[]; shards?: string[] } {
  const [, { Properties }] = all('AWS::Scheduler::Schedule').find(([, { Properties: of }]) => of.Name === name)!
  return JSON.parse(resolved((Properties.Target as { Input: unknown }).Input))
}
