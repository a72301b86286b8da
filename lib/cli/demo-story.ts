import { join } from 'node:path'
import type { DemoQuery } from '../local/demo.ts'
import type { Simulator } from '../local/simulator/simulator.ts'
import { number, type Output } from './output.ts'
import { answerTable } from './query-layout.ts'
import type { Answer } from './query-rows.ts'
import type { Workspace } from './workspace.ts'

/** A question with its answer, for `--json`. */
export type Asked = DemoQuery & Pick<Answer, 'columns' | 'rows'>

/** A part of the story begins. */
export function sayHeading(title: string, io: Output): void {
  io.say(`\n${io.style('bold', title)}\n`)
}

/** A paragraph, broken between words. */
export function sayParagraph(text: string, io: Output): void {
  const width = Math.min(io.columns, 90)
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      io.say(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  io.say(`${line}\n`)
}

/** Says what there is before anything is synced. */
export function sayFirstDay(simulator: Simulator, { variables }: Workspace, io: Output): void {
  const { reports, sessions, users, revisions, computers } = simulator.state().records
  sayHeading('1. A first sync', io)
  const records = `${number(sessions)} sessions, ${number(users)} users, ${number(reports)} readiness reports, ${revisions} revisions of the settings and ${computers} computers`
  sayParagraph(
    `A simulated platform runs at ${simulator.url} with ${records}. DynamoDB and S3 are emulated at ` +
      `${variables.AWS_ENDPOINT_URL}. Everything is new:`,
    io,
  )
}

/** Says what happened on the platform before the second run. */
export function saySecondDay(io: Output): void {
  sayHeading('2. A day passes on the platform, and a second sync finds what changed', io)
  sayParagraph(
    'Records changed, appeared and went. One session now says "a dozen" where its schema wants a number. The list of ' +
      'users answers 429 twice, with Retry-After: 1. The messages of sessions are read from this day on: a list per ' +
      'session, and later only of those that changed.',
    io,
  )
}

/** Says how to read the second table. */
export function sayReading(io: Output): void {
  io.say()
  sayParagraph(
    'Each record received is accounted for: new, changed or unchanged. The one with the odd value is a change: it keeps ' +
      'its row, and only that column is null. Deleted is what the whole list no longer shows. Only new, changed and ' +
      'deleted records were written.',
    io,
  )
}

/** A question, its SQL and its answer. */
export function sayQuery({ title, sql }: DemoQuery, answer: Answer, io: Output): void {
  io.say(`${io.style('bold', title)}`)
  for (const line of sql.split('\n')) io.say(io.style('dim', `  ${line}`))
  io.say(`\n${answerTable(answer, io.columns)}\n`)
}

/** Says what the audit trail is for. */
export function sayAudit(io: Output): void {
  sayHeading('4. The history of the settings proves itself', io)
  sayParagraph(
    'Each revision of the enterprise settings is an entry of a chain, which is signed after each sync. Nobody can change ' +
      'or remove an entry unseen. Anyone can check that, also in a copy and without this project. Here is the check, and ' +
      'then the two newest entries:',
    io,
  )
}

/** Says where things are, and what to do next; each command works as it stands. */
export function sayClosing(
  { folder, isDefault, bucket, seconds }: { folder: string; isDefault: boolean; bucket: string; seconds: number },
  io: Output,
): void {
  const local = isDefault ? '--local' : `--local=${folder}`
  const command = (text: string) => io.say(`  npm run -s platform-sync -- ${text}`)
  sayHeading('7. Yours to try', io)
  sayParagraph(
    `That took ${seconds.toFixed(0)} s. The lake lies in ${join(folder, 's3', bucket)} as plain Parquet files, the tables in ` +
      `${join(folder, 'dynamodb')}. From ${join(folder, 'platform.json')} the platform starts again as it was. The next demo starts from scratch.`,
    io,
  )
  io.say('See how the streams stand. Then sync again: nothing changed, so nothing is written')
  command(`status ${local}`)
  command(`sync ${local}`)
  io.say('The same with the messages of sessions: a session that did not change costs no request')
  io.say(`  MESSAGES_ENABLED=true npm run -s platform-sync -- sync ${local}`)
  io.say('Let another day pass first')
  command(`sync ${local} --skip-days 1`)
  io.say('Ask the lake (tables and columns: docs/streams.md)')
  command(`query ${local} "select status, count(*) from sessions_current group by all"`)
  io.say('See what became of the limits. The next sync brings that to the lake, as credit_limit_outcomes')
  command(`limits outcomes --failed ${local}`)
  io.say('See who gets what by the policy, and what it sets back tonight')
  command(`limits policy check ${local}`)
  command(`limits policy plan ${local}`)
  io.say('A page for an auditor, and evidence that anyone can check')
  command(`audit report ${local} --out report.html`)
  command(`audit export ${local} --out evidence`)
  io.say('The platform alone, to try with curl, faults included')
  command('simulator')
}
