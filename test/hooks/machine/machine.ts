import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJournal } from '../../../lib/hooks/machine/journal.ts'
import { type MachineConfig, placeOf } from '../../../lib/hooks/machine/place.ts'
import { createSpool } from '../../../lib/hooks/machine/spool.ts'
import { cliHere, type Ended, ended, soon } from '../../cli/cli.ts'
import { type Collector, startCollector, token } from './collector.ts'

/** A developer's machine with the hooks installed in a folder of its own, and the collector that it talks to. */
export async function createMachine(command: string) {
  const path = mkdtempSync(join(tmpdir(), 'platform-sync-hooks-'))
  const place = placeOf(join(path, 'hooks'))
  const machine = { place, collector: await startCollector() }
  mkdirSync(place.folder)
  writeFileSync(place.command, command)
  const configure = (more: Partial<MachineConfig> = {}) => {
    const config: MachineConfig = { address: machine.collector.address, token, timeoutSeconds: 60, ...more }
    writeFileSync(place.config, JSON.stringify(config))
  }
  configure()
  /** Starts the command as an agent does. */
  const start = (input: string | null) => {
    const child = spawn(process.execPath, [place.command], { cwd: path })
    // A process that is killed reads no more.
    child.stdin.on('error', () => {})
    if (input !== null) child.stdin.end(input)
    return child
  }
  const waiting = () => createSpool(place.spool, { onBroken: () => {} }).list()
  const isIdle = () => !existsSync(place.lock)
  return Object.assign(machine, {
    configure,
    start,
    waiting,
    /** Runs the command to its end, which is silent and well whatever happened. */
    hook: (input: string | object = { hook_event_name: 'Stop', session_id: 's' }): Promise<Ended> =>
      ended(start(typeof input === 'string' ? input : JSON.stringify(input))),
    counts: () => createJournal(place, { secret: null }).counts(),
    flush: () => cliHere(['hooks', 'flush', '--json'], { HOOKS_FOLDER: place.folder }),
    /** Waits until so many events have arrived and nothing waits. */
    arrived: (count: number) => soon(() => idsOf(machine.collector).size === count && waiting().length === 0),
    /** Waits until nobody delivers: a folder must not go from under somebody. */
    idle: () => soon(isIdle),
    spoolFiles: () => (existsSync(place.spool) ? readdirSync(place.spool) : []),
    log: () => readFileSync(place.log, 'utf8'),
    close: async () => {
      await machine.collector.close()
      rmSync(path, { recursive: true, force: true })
    },
  })
}
export type Machine = Awaited<ReturnType<typeof createMachine>>

function idsOf({ accepted }: Collector): Set<string> {
  return new Set(accepted.map(({ id }) => id))
}
