import { join } from 'node:path'
import type { Command } from 'commander'
import { FatalError } from '../core/errors.ts'
import type { PlaceCount } from '../erase/done.ts'
import type { Fate } from '../erase/find.ts'
import type { Person } from '../erase/person.ts'
import type { ErasurePlan } from '../erase/plan.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { number, type Output, plain, tableText, time } from './output.ts'

type Options = { yes?: boolean; also?: string[] }

/** `platform-sync erase` */
export function addErase(program: Command, cli: Cli): void {
  const erase = program.command('erase').description('find a person in everything that is kept, and erase them')
  withLocal(erase.command('user'))
    .description('show where a person is named, and with --yes erase them there for good')
    .argument('<address>', 'the e-mail address of the person')
    .option('--also <text...>', 'what else the person is known by: a login, the name of a machine')
    .option('--yes', 'erase what is shown; without it nothing is changed')
    .action(action<Options, [string]>(cli, (io, options, address) => eraseOne(cli, io, { ...options, address })))
  withLocal(erase.command('list'))
    .description('show which erasures were done: when, by whom and how much')
    .action(action(cli, (io, options) => list(cli, io, options)))
}

async function eraseOne(
  cli: Cli,
  io: Output,
  options: Options & CommonOptions & { address: string },
): Promise<ExitCode> {
  const { readEmail } = await import('../limits/email.ts')
  const { composeErase } = await import('../compose/erase.ts')
  const { planErasure } = await import('../erase/plan.ts')
  const { eraseUser } = await import('../erase/erase.ts')
  const { withWorkspace } = await import('./workspace.ts')
  const { accountName } = await import('./limits-workspace.ts')
  const email = readEmail(options.address)
  if ('reason' in email) throw new FatalError(`That is no address: ${email.reason}.`, { code: 'usage' })
  const others = options.also ?? []
  const short = others.find((text) => text.trim().length < shortest)
  if (short !== undefined)
    throw new FatalError(`"${short}" would be found in too much: name ${shortest} characters or more.`, {
      code: 'usage',
    })
  const asked = { address: email.identity, written: email.address, others }
  return withWorkspace(cli, { io, options, platform: false }, async ({ open, folder }) => {
    const plans = cli.variables.LIMITS_PLANS_FOLDER || join(folder ?? '.local', 'plans')
    const deps = await open((variables, runtime) =>
      composeErase({ ...variables, LIMITS_PLANS_FOLDER: plans }, runtime),
    ).eraseDeps()
    if (options.yes !== true) {
      const { plan } = await planErasure(asked, deps)
      sayPlan(plan, io)
      io.result(plan)
      return exitCodes.complete
    }
    const erasure = await eraseUser(asked, { erasedBy: accountName(), deps })
    io.say(placesTable(erasure.places))
    io.say()
    if (erasure.left.length > 0) {
      io.say('Somebody wrote meanwhile, and the person is still named here. Run the command again:')
      io.say(placesTable(erasure.left))
    } else io.say(`The person is erased, and on record by the fingerprint ${erasure.fingerprint}.`)
    sayUnnamed(erasure.unnamed, io)
    io.say(whatStays)
    io.result(erasure)
    return erasure.left.length > 0 ? exitCodes.partly : exitCodes.complete
  })
}

/** What is looked for besides an address must be told from other words. */
const shortest = 4

const whatStays =
  'The audit trail stays as it is: it is evidence under a lock. So do backups, logs of AWS and messages on queues, until their ' +
  'time is over (docs/privacy.md).'

function sayPlan({ person, places, unnamed, refusals }: ErasurePlan, io: Output): void {
  io.say(`Looked for: ${identifiersOf(person)}`)
  io.say()
  io.say(places.length === 0 ? 'Nothing names this person.' : placesTable(places))
  sayUnnamed(unnamed, io)
  for (const refusal of refusals) io.say(`\n${refusal}`)
  const names = places.some(({ fate }) => fate === 'rewritten' || fate === 'removed')
  if (refusals.length === 0 && names) io.say('\nNothing was changed. Add --yes to erase this for good.')
  io.say(whatStays)
}

function sayUnnamed(unnamed: readonly string[], io: Output): void {
  if (unnamed.length > 0) io.say(`Not looked at, since nothing names the place: ${unnamed.join(', ')}.`)
}

function identifiersOf({ addresses, ids, names, nameParts, others, fingerprints }: Person): string {
  const all = [
    ...addresses,
    ...ids.map((id) => `user id ${id}`),
    ...names.map((name) => `"${name}"`),
    ...others.map((text) => `"${text}"`),
    ...fingerprints,
    ...nameParts.map((name) => `"${name}" (only beside one of the others)`),
  ]
  return plain(all.join(', '))
}

const fates: Record<Fate, string> = {
  rewritten: 'written anew without them',
  removed: 'removed',
  yours: 'yours to change',
  stays: 'stays',
}

function placesTable(places: readonly PlaceCount[]): string {
  const heads = [
    { title: 'place' },
    { title: 'objects', right: true },
    { title: 'mentions', right: true },
    { title: '' },
  ]
  const rows = places.map(({ place, objects, mentions, fate }) => [
    place,
    number(objects),
    number(mentions),
    fates[fate],
  ])
  return tableText(heads, rows)
}

async function list(cli: Cli, io: Output, options: CommonOptions): Promise<ExitCode> {
  const { composeInspect } = await import('../compose/inspect.ts')
  const { erasuresDone } = await import('../erase/done.ts')
  const { withWorkspace } = await import('./workspace.ts')
  return withWorkspace(cli, { io, options, platform: false, looks: true }, async ({ open }) => {
    const done = await erasuresDone(open(composeInspect).objects)
    const heads = [
      { title: 'when' },
      { title: 'by' },
      { title: 'fingerprint of the address' },
      { title: 'mentions', right: true },
    ]
    const rows = done.map(({ erasedAt, erasedBy, fingerprint, places }) => [
      time(Date.parse(erasedAt)),
      plain(erasedBy),
      fingerprint,
      number(places.reduce((sum, { mentions }) => sum + mentions, 0)),
    ])
    io.say(rows.length === 0 ? 'Nobody was erased.' : tableText(heads, rows))
    io.result(done)
    return exitCodes.complete
  })
}
