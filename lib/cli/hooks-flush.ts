import type { Command } from 'commander'
import type { Delivery } from '../hooks/machine/deliver.ts'
import { action, type Cli, wholeNumber, withCommon } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { configOf, openMachine } from './hooks-place.ts'
import { number, type Output } from './output.ts'

type Options = { wait: number }

/** `platform-sync hooks flush` */
export function addHooksFlush(hooks: Command, cli: Cli): void {
  withCommon(hooks.command('flush'))
    .description('send the events that wait on this machine')
    .option('--wait <seconds>', 'how long it may take', wholeNumber({ min: 1, max: 600 }), 120)
    .action(action<Options, []>(cli, (io, options) => flush(cli, io, options)))
}

async function flush(cli: Cli, io: Output, { wait }: Options): Promise<ExitCode> {
  const { createPost } = await import('../hooks/machine/post.ts')
  const { deliverSpool } = await import('../hooks/machine/deliver.ts')
  const { createLock } = await import('../hooks/machine/lock.ts')
  const machine = openMachine(cli.variables)
  const { place, spool, journal } = machine
  const config = configOf(machine)
  // Whoever is asked decides whether a proxy is needed, and here that is the collector alone.
  cli.useProxies({ ...cli.variables, PLATFORM_APP_URL: undefined, PLATFORM_BASE_URL: config.address })
  const post = createPost(config)
  const deadlineUnixMs = cli.clock.now() + wait * 1_000
  const deps = { spool, journal, lock: createLock(place.lock), post, now: cli.clock.now, deadlineUnixMs }
  let delivery = await deliverSpool(deps)
  while (delivery === null && cli.clock.now() < deadlineUnixMs && !cli.interrupted.aborted) {
    await cli.clock.sleep(100)
    delivery = await deliverSpool(deps)
  }
  const done = delivery ?? { delivered: 0, refused: 0, problem: 'Another process of the hooks is delivering.' }
  const waiting = spool.list().length
  sayDelivery(io, done, waiting)
  io.result({ ...done, waiting })
  if (waiting === 0) return exitCodes.complete
  return done.delivered + done.refused > 0 ? exitCodes.partly : exitCodes.failed
}

function sayDelivery(io: Output, { delivered, refused, problem }: Delivery, waiting: number): void {
  io.say(`${number(delivered)} delivered, ${number(refused)} refused for good, ${number(waiting)} still waiting.`)
  if (problem !== null) io.say(problem)
  else if (waiting > 0) io.say('"hooks status" shows the last error. What waits stays on this machine.')
}
