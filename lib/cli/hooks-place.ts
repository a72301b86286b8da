import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Variables } from '../core/env.ts'
import { FatalError } from '../core/errors.ts'
import { createJournal, type Journal } from '../hooks/machine/journal.ts'
import { laterFolder, type MachineConfig, type Place, placeOf, readConfig } from '../hooks/machine/place.ts'
import { createSpool, type Spool } from '../hooks/machine/spool.ts'

/** The folder of the hooks on this machine: `HOOKS_FOLDER`, or one in the home of the person. */
export function hooksPlace(variables: Variables): Place {
  return placeOf(resolve(variables.HOOKS_FOLDER || join(homedir(), '.platform-sync', 'hooks')))
}

/** What is kept on this machine. */
export type Machine = { place: Place; config: MachineConfig | null; journal: Journal; spool: Spool }

/** Opens the hooks of this machine, installed or not. @throws FatalError `configuration` when a later version installed them. */
export function openMachine(variables: Variables): Machine {
  const place = hooksPlace(variables)
  const later = laterFolder(place)
  if (later !== null) throw new FatalError(later, { code: 'configuration' })
  const config = readConfig(place)
  const journal = createJournal(place, { secret: config?.token ?? null })
  const spool = createSpool(place.spool, { onBroken: () => journal.count('unreadable') })
  return { place, config, journal, spool }
}

/** The configuration of a machine on which the hooks are installed. @throws FatalError `configuration` */
export function configOf({ config, place }: Machine): MachineConfig {
  if (config !== null) return config
  throw new FatalError(`${place.config} is missing or not whole. Run "platform-sync hooks install" first.`, {
    code: 'configuration',
  })
}
