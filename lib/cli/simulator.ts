import { type Command, InvalidArgumentError } from 'commander'
import { FatalError, messageOf } from '../core/errors.ts'
import type { ResourceName, SimulatorOptions } from '../local/simulator/options.ts'
import type { Simulator } from '../local/simulator/simulator.ts'
import { action, type Cli, untilInterrupted, wholeNumber, withCommon } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import type { Output } from './output.ts'

type Counts = Partial<Record<ResourceName, number>>
type Options = Counts & { port?: number; seed?: number; latency?: number; apiKey: string; fault: Rule[] }
type Rule = Parameters<Simulator['fault']>[0]

const resources = ['reports', 'sessions', 'users', 'revisions', 'computers'] as const satisfies ResourceName[]
const most = { min: 0, max: 10_000_000 }

/** `platform-sync simulator` */
export function addSimulator(program: Command, cli: Cli): void {
  const command = withCommon(program.command('simulator'))
    .description('run the platform simulator alone, until Ctrl-C')
    .option('--port <port>', 'its port (default: a free one)', wholeNumber({ min: 0, max: 65_535 }))
    .option('--api-key <key>', 'the key that it accepts', 'sim-key')
    .option('--seed <n>', 'another seed makes another platform', wholeNumber({ min: 0, max: 2 ** 31 }))
    .option('--latency <ms>', 'how long it waits before each answer', wholeNumber({ min: 0, max: 60_000 }))
    .option('--fault <json>', 'a fault from the start; may be given again', readFault, [])
  for (const name of resources) command.option(`--${name} <n>`, `how many ${name} there are`, wholeNumber(most))
  command.action(action<Options, []>(cli, (io, options) => simulate(cli, io, options)))
}

function readFault(text: string, before: Rule[]): Rule[] {
  try {
    return [...before, JSON.parse(text) as Rule]
  } catch (error) {
    throw new InvalidArgumentError(`It must be JSON: ${messageOf(error)}.`)
  }
}

async function simulate(cli: Cli, io: Output, options: Options): Promise<ExitCode> {
  const { startSimulator } = await import('../local/simulator/simulator.ts')
  const { FaultRule } = await import('../local/simulator/faults/rule.ts')
  for (const rule of options.fault) {
    const { success, error } = FaultRule.safeParse(rule)
    if (success) continue
    const message = `--fault ${JSON.stringify(rule)} is no fault: ${problemsOf(error)}`
    throw new FatalError(message, { code: 'usage' })
  }
  const simulator = await startSimulator(settingsOf(options))
  try {
    for (const rule of options.fault) simulator.fault(rule)
    io.result({ url: simulator.url, appUrl: simulator.appUrl, baseUrl: simulator.baseUrl, apiKey: options.apiKey })
    sayHowTo(simulator, options.apiKey, io)
    await untilInterrupted(cli)
    return exitCodes.complete
  } finally {
    await simulator.close()
  }
}

function settingsOf({ port, seed, latency, apiKey, ...options }: Options): SimulatorOptions {
  return {
    apiKey,
    counts: Object.fromEntries(
      resources.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
    ) as Counts,
    ...(port === undefined ? {} : { port }),
    ...(seed === undefined ? {} : { seed }),
    ...(latency === undefined ? {} : { latencyMs: latency }),
  }
}

function problemsOf(error: { issues: readonly { path: PropertyKey[]; message: string }[] }): string {
  return error.issues.map(({ path, message }) => `${path.join('.') || 'it'}: ${message}`).join('; ')
}

function sayHowTo({ url, appUrl, baseUrl, state }: Simulator, apiKey: string, io: Output): void {
  const counts = Object.entries(state().records).map(([name, count]) => `${count} ${name}`)
  io.say(`The platform runs at ${url} with ${counts.join(', ')}. Ctrl-C stops it.

For a worker in another terminal
  export PLATFORM_APP_URL=${appUrl} PLATFORM_BASE_URL=${baseUrl} PLATFORM_API_KEY=${apiKey}
  npm run -s platform-sync -- sync --local ./.local/simulated

Ask it
  curl -s -H 'Authorization: Bearer ${apiKey}' '${url}/api/v0/sessions?limit=2'
Let a day pass: records change, appear and go
  curl -s -X POST ${url}/_simulator/advance
Make trouble: the list of users answers 429 three times
  curl -s ${url}/_simulator/faults -d '{"kind":"status","endpoint":"listUsers","status":429,"headers":{"retry-after":"2"},"times":3}'
What there is and what was asked, and an end to the trouble
  curl -s ${url}/_simulator/state
  curl -s -X DELETE ${url}/_simulator/faults`)
}
