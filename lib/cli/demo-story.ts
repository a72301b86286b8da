import type { DemoQuery } from '../local/demo.ts'
import type { Simulator } from '../local/simulator/simulator.ts'
import { number, type Output } from './output.ts'
import { answerTable } from './query.ts'
import type { Answer } from './query-rows.ts'
import type { Session } from './session.ts'

/** A question with its answer, for `--json`. */
export type Asked = DemoQuery & Pick<Answer, 'columns' | 'rows'>

/** A part of the story begins. */
export const sayHeading = (title: string, io: Output): void => io.say(`\n${io.style('bold', title)}\n`)

/** What there is before anything is synced. */
export const sayFirstDay = (simulator: Simulator, { variables }: Session, io: Output): void => {
  const { reports, sessions, users, revisions, computers } = simulator.state().records
  sayHeading('1. A first sync', io)
  io.say(`A simulated platform runs at ${simulator.url}: ${number(sessions)} sessions, ${number(users)} users,`)
  io.say(`${number(reports)} readiness reports, ${revisions} revisions of the settings, ${computers} computers.`)
  io.say(`DynamoDB and S3 are emulated at ${variables.AWS_ENDPOINT_URL}. Everything is new:\n`)
}

/** What happened on the platform before the second run. */
export const saySecondDay = (io: Output): void => {
  sayHeading('2. A day passes on the platform, and a second sync finds what changed', io)
  io.say('Records changed, appeared and went. One session now says "a dozen" where its schema')
  io.say('wants a number. The list of users answers 429 twice, with Retry-After: 1.\n')
}

/** How to read the second table. */
export const sayReading = (io: Output): void => {
  io.say('\nEach record received is accounted for: new, changed, unchanged or in quarantine. Deleted')
  io.say('is what the whole list no longer shows. Only new, changed and deleted records were written.')
}

/** A question, its SQL and its answer. */
export const sayQuery = ({ title, sql }: DemoQuery, answer: Answer, io: Output): void => {
  io.say(`${io.style('bold', title)}`)
  for (const line of sql.split('\n')) io.say(io.style('dim', `  ${line}`))
  io.say(`\n${answerTable(answer)}\n`)
}

/** Where things are, and what to do next; each command works as it stands. */
export const sayClosing = (
  { folder, isDefault, seconds }: { folder: string; isDefault: boolean; seconds: number },
  io: Output,
): void => {
  const local = isDefault ? '--local' : `--local=${folder}`
  const command = (text: string) => io.say(`  npm run -s platform-sync -- ${text}`)
  sayHeading('4. Yours to try', io)
  io.say(
    `That took ${seconds.toFixed(0)} s. All of it is in ${folder}: DynamoDB tables, the lake, and platform.json, from`,
  )
  io.say('which the platform starts again as it was. The next demo starts from scratch.\n')
  io.say('How the streams stand, and another sync: nothing changed, so nothing is written')
  command(`status ${local}`)
  command(`sync ${local}`)
  io.say('Let another day pass first')
  command(`sync ${local} --skip-days 1`)
  io.say('Ask the lake (tables and columns: docs/streams.md)')
  command(`query ${local} "select status, count(*) from sessions_current group by all"`)
  io.say('The platform alone, to try with curl, faults included')
  command('simulator')
}
