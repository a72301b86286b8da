import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Account, called } from './emulator.ts'

type Resource = { Type: string; Properties: { Metrics?: unknown } }
type Template = { Resources: Record<string, Resource> }

/** Addresses that the configuration takes, which needs https, and the emulator's account then knows under another name. */
const placeholder = { appUrl: 'https://app.platform.invalid', baseUrl: 'https://api.platform.invalid' }

const root = fileURLToPath(new URL('../..', import.meta.url))
const cdkExecutable = join(root, 'node_modules', '.bin', 'cdk')
const names = fileURLToPath(new URL('localhost.cjs', import.meta.url))

/** Runs the CDK's command line against the emulator, or without one. */
async function cdk(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const env = { ...process.env, ...environment, NODE_OPTIONS: `--require ${names}`, CI: 'true' }
  const { stdout } = await promisify(execFile)(cdkExecutable, [...args], { cwd: root, env, maxBuffer: 1e8 })
  return stdout
}

/** The name of the secret that holds an installation's API key. */
export function secretOf(installation: string): string {
  return `${installation}/api-key`
}

/** Synthesizes the stacks of an installation with what an operator would give on the command line. */
export async function synthesize(outdir: string, installation: string): Promise<void> {
  const given = { ...placeholder, secretName: secretOf(installation), name: installation }
  const context = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  await cdk(['synth', '--quiet', '--output', outdir, ...context])
}

/** What the emulator can't take, or can't judge: the template tests see to these. */
function isLeftOut({ Type, Properties }: Resource): boolean {
  if (Type === 'AWS::Athena::NamedQuery') return true
  if (Type === 'AWS::S3::BucketPolicy' || Type === 'AWS::SQS::QueuePolicy') return true
  return Type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined
}

/** Adapts the templates to the emulator: without what it lacks, and with the address of the simulated platform. */
export function adaptTo(
  outdir: string,
  installation: string,
  { appUrl, baseUrl }: { appUrl: string; baseUrl: string },
) {
  for (const stack of [`${installation}-stateful`, `${installation}-stateless`]) {
    const path = join(outdir, `${stack}.template.json`)
    const text = readFileSync(path, 'utf8')
      .replaceAll(placeholder.appUrl, appUrl)
      .replaceAll(placeholder.baseUrl, baseUrl)
    const template = JSON.parse(text) as Template
    const kept = Object.entries(template.Resources).filter(([, resource]) => !isLeftOut(resource))
    const known = new Set(kept.map(([name]) => name))
    const resources = kept.map(([name, resource]) => [name, withoutDependenciesOn(resource, known)])
    writeFileSync(path, JSON.stringify({ ...template, Resources: Object.fromEntries(resources) }))
  }
}

function withoutDependenciesOn(resource: Resource & { DependsOn?: string[] }, known: ReadonlySet<string>) {
  return resource.DependsOn
    ? { ...resource, DependsOn: [resource.DependsOn].flat().filter((name) => known.has(name)) }
    : resource
}

/** Makes the account ready for the CDK. */
export async function bootstrap({ environment }: Account, outdir: string): Promise<void> {
  await cdk(['bootstrap', `aws://${called.id}/${called.region}`, '--app', outdir], environment)
}

/** Deploys stacks as they were synthesized. */
export async function deploy({ environment }: Account, outdir: string, stacks: readonly string[] = ['--all']) {
  await cdk(['deploy', ...stacks, '--app', outdir, '--require-approval', 'never', '--progress', 'events'], environment)
}

/** Removes stacks. */
export async function destroy({ environment }: Account, outdir: string, stacks: readonly string[]): Promise<void> {
  await cdk(['destroy', ...stacks, '--app', outdir, '--force'], environment)
}
