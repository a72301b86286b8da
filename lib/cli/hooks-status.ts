import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { Installation } from '../hooks/machine/install.ts'
import { duration } from '../report/words.ts'
import { action, type Cli, withCommon } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Machine, openMachine } from './hooks-place.ts'
import { number, type Output, plain } from './output.ts'

/** `platform-sync hooks status` */
export function addHooksStatus(hooks: Command, cli: Cli): void {
  withCommon(hooks.command('status'))
    .description('show what is installed on this machine, and whether its events arrive')
    .action(action<unknown, []>(cli, (io) => status(cli, io)))
}

async function status(cli: Cli, io: Output): Promise<ExitCode> {
  const { installationsIn, installedIn } = await import('../hooks/machine/install.ts')
  const machine = openMachine(cli.variables)
  const found = installationsIn(machine.place).map((each) => ({ ...each, inPlace: installedIn(machine.place, each) }))
  const events = eventsOf(machine, cli.clock.now())
  const { config, place } = machine
  if (found.length === 0) io.say('Nothing is installed on this machine.')
  for (const each of found) sayInstallation(io, each)
  if (config !== null) io.say(`Events go to ${config.address}. The token is in ${place.config}.`)
  else if (found.length > 0) io.say(`${place.config} is missing or not whole: nothing is sent. Run "hooks install".`)
  const hasCommand = existsSync(place.command)
  if (found.length > 0 && !hasCommand) io.say(`${place.command} is missing. Run "hooks install".`)
  sayEvents(io, events)
  const installations = found.map(({ settings, events, inPlace }) => ({ settings, events, inPlace }))
  io.result({ installations, address: config?.address ?? null, hasCommand, ...events })
  return exitCodes.complete
}

type Found = Installation & { inPlace: readonly string[] }

function sayInstallation(io: Output, { settings, events, inPlace }: Found): void {
  const missing = events.filter((event) => !inPlace.includes(event))
  if (inPlace.length > 0) io.say(`${settings} runs our command at ${inPlace.join(', ')}.`)
  if (missing.length > 0) io.say(`${settings} does not run it at ${missing.join(', ')}: run "hooks install" again.`)
}

/** What became of events, in numbers. */
function eventsOf({ spool, journal }: Machine, now: number) {
  const waiting = spool.list()
  const [oldest] = waiting
  return {
    ...journal.state(),
    ...journal.counts(),
    waiting: waiting.length,
    waitingBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
    oldestAgeMs: oldest === undefined ? null : now - oldest.unixMs,
  }
}

function sayEvents(io: Output, events: ReturnType<typeof eventsOf>): void {
  const { delivered, refused, lastDeliveryAt, lastError, waiting, waitingBytes, oldestAgeMs } = events
  io.say(`Last delivery: ${lastDeliveryAt ?? 'none yet'}. Delivered so far: ${number(delivered)}.`)
  const age = oldestAgeMs === null ? '' : ` (${number(waitingBytes)} bytes, the oldest for ${duration(oldestAgeMs)})`
  io.say(`Waiting: ${number(waiting)}${age}.`)
  io.say(`Lost since the spool was full or could not be written: ${number(events.lost)}.`)
  io.say(`Not readable: ${number(events.unreadable)}. Refused by the collector: ${number(refused)}.`)
  if (lastError !== null) io.say(`Last error: ${lastError.at} ${plain(lastError.message)}`)
}
