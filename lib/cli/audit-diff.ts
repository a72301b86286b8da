import { type Command, InvalidArgumentError } from 'commander'
import { onlySecretDiffers, type SettingChange, shownValue } from '../audit/changes/diff.ts'
import { diffEntries, type RevisionDiff, userText, type WatchedChange } from '../audit/changes/history.ts'
import { type AuditEntry, masked } from '../audit/trail/entry.ts'
import { FatalError } from '../core/errors.ts'
import { diffsOf, withAuditLook } from './audit-workspace.ts'
import { action, type Cli, type CommonOptions, withLocal } from './command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Output, plain } from './output.ts'
import { severityText } from './run-report.ts'

function revisionNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be the number of a revision.')
}

/** `platform-sync audit show REV` */
export function addAuditShow(audit: Command, cli: Cli): void {
  withLocal(audit.command('show'))
    .description('show a revision: who made it and when, what it changed, and all settings as they were then')
    .argument('<revision>', 'the number of a revision', revisionNumber)
    .action(action<unknown, [number]>(cli, (io, options, revision) => show(cli, io, { ...options, revision })))
}

/** `platform-sync audit diff A B` */
export function addAuditDiff(audit: Command, cli: Cli): void {
  withLocal(audit.command('diff'))
    .description('show what differs between the settings of two revisions')
    .argument('<a>', 'the number of a revision', revisionNumber)
    .argument('<b>', 'the number of another one', revisionNumber)
    .action(action<unknown, [number, number]>(cli, (io, options, ...pair) => diff(cli, io, { ...options, pair })))
}

async function show(cli: Cli, io: Output, options: CommonOptions & { revision: number }): Promise<ExitCode> {
  const { revision } = options
  const diffs = await withAuditLook({ cli, io, options }, (look) => diffsOf(look, new Set([revision])))
  const last = diffs.at(-1)
  if (!last) throw unknown(revision)
  for (const each of diffs) sayRevision(each, io)
  const { settings } = last.entry
  io.say(`\nSettings as of revision ${revision}:`)
  io.say(plain(JSON.stringify(settings === undefined ? null : masked(settings), null, 2)))
  io.result({ revision, entries: diffs.map(revisionJson) })
  return exitCodes.complete
}

async function diff(cli: Cli, io: Output, options: CommonOptions & { pair: [number, number] }): Promise<ExitCode> {
  const [a, b] = options.pair
  const diffs = await withAuditLook({ cli, io, options }, (look) => diffsOf(look, new Set([a, b])))
  const entryOf = (revision: number): AuditEntry => {
    const found = diffs.findLast(({ entry }) => entry.revision === revision)
    if (!found) throw unknown(revision)
    return found.entry
  }
  const [before, after] = [entryOf(a), entryOf(b)]
  const changes = diffEntries(before, after)
  for (const [mark, entry] of [
    ['-', before],
    ['+', after],
  ] as const)
    io.say(`${mark} ${headline(entry)}`)
  io.say()
  if (changes.length === 0) io.say('No setting differs.')
  for (const change of changes) sayChange(change, io)
  io.result({ a, b, changes: changes.map(changeJson) })
  return exitCodes.complete
}

function unknown(revision: number) {
  return new FatalError(`No revision ${revision} is recorded. "platform-sync audit report" lists all that are.`, {
    code: 'usage',
  })
}

function headline(entry: AuditEntry): string {
  const { revision, updatedAt } = entry
  const when = typeof updatedAt === 'string' ? updatedAt : 'at an unknown time'
  return plain(`revision ${revision}, ${when}, by ${userText(entry)}`)
}

/** A revision with what it changed, and why that deserves attention. */
export function sayRevision({ entry, previous, changes }: RevisionDiff, io: Output): void {
  const { recordedAt, sequence, hash } = entry
  io.say(io.style('bold', headline(entry)))
  io.say(io.style('dim', `entry ${sequence}, recorded ${recordedAt}, hash ${hash.slice(0, 16)}`))
  if (!previous) io.say(`There is nothing before it to compare with: ${changes.length} settings were set.`)
  else if (changes.length === 0) io.say(`No setting differs from revision ${previous.revision}.`)
  else for (const change of changes) sayChange(change, io)
}

/** Says how a setting differs. */
export function sayChange(change: SettingChange & Partial<Pick<WatchedChange, 'matches'>>, io: Output): void {
  const { path, kind, before, after, matches = [] } = change
  const bySecret = onlySecretDiffers(change)
  io.say(`  ${plain(path)}${bySecret ? ' secret changed' : kind === 'changed' ? '' : ` ${kind}`}`)
  if (before !== undefined && !bySecret) io.say(io.style('red', `    - ${oneLine(shownValue(before), io)}`))
  if (after !== undefined && !bySecret) io.say(io.style('green', `    + ${oneLine(shownValue(after), io)}`))
  for (const { severity, why } of matches) io.say(`    ${severityText(severity, io)}: ${why}`)
}

function oneLine(text: string, { columns }: Output): string {
  const line = plain(text).replaceAll('\n', ' ')
  const room = Math.max(columns - 6, 20)
  return line.length > room ? `${line.slice(0, room - 1)}…` : line
}

function changeJson({ path, kind, before, after, secret }: SettingChange) {
  return { path, kind, before, after, secret }
}

function revisionJson({ entry, previous, changes }: RevisionDiff) {
  return {
    ...(masked(entry as never) as object),
    previous,
    changes: changes.map((change) => ({ ...changeJson(change), matches: change.matches })),
  }
}
