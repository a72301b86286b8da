import { isDeepStrictEqual } from 'node:util'
import { streams } from '../../lib/streams/index.ts'
import { tablesViewOf } from '../support/worlds/observe-tables.ts'
import type { Stored } from './contents.ts'
import type { Plan } from './plan.ts'
import { everythingListed, type Listed, type ListName, lists, messagesListed } from './platform-lists.ts'
import type { World } from './world.ts'

type Records = Map<string, unknown>
type Tables = Record<string, string[]>

/** How many broken promises are told of one kind. */
const told = 3

/** What the platform lists and what the tables hold, where they differ: nothing is lost, nothing is invented. */
export async function differencesFromPlatform(
  world: World,
  stored: Stored,
  { messages }: Pick<Plan, 'messages'>,
): Promise<string[]> {
  const found: string[] = []
  const tables = await currentTables(stored)
  for (const name of Object.keys(lists) as ListName[]) {
    const listed = new Map(
      (await everythingListed(world.simulator, name)).map((record) => [String(record[lists[name].key]), record]),
    )
    const held = recordsOf(stored, name)
    found.push(...compare(name, usable(listed, held, name), { held, rows: tables[`${name}_current`] ?? [] }))
  }
  return messages ? [...found, ...(await differencesOfMessages(world, stored, tables))] : found
}

async function differencesOfMessages(world: World, stored: Stored, tables: Tables): Promise<string[]> {
  const held = recordsOf(stored, 'session_messages')
  const listed = new Map<string, Listed>()
  for (const { sessionId } of await everythingListed(world.simulator, 'sessions')) {
    for (const message of await messagesListed(world.simulator, String(sessionId))) {
      if (message.id !== undefined) listed.set(`${sessionId}/${message.id}`, { ...message, sessionId })
    }
  }
  const rows = tables.session_messages_current ?? []
  return compare('session_messages', usable(listed, held, 'session_messages'), { held, rows })
}

/** The current records of a stream, key to body. */
function recordsOf({ records, objects }: Stored, stream: string): Records {
  const held: Records = new Map()
  for (const { pk, body, bodyKey, deletedAt } of records) {
    const [, name = '', key = ''] = /^([a-z_]+)(?:\/\d+)?#(.*)$/s.exec(pk?.S ?? '') ?? []
    if (name !== stream || deletedAt) continue
    const text = body?.S ?? objects.get(bodyKey?.S ?? '')?.toString() ?? 'null'
    held.set(key, JSON.parse(text))
  }
  return held
}

/** Records that came broken from their first day on are in no table, and in no comparison. */
function usable(listed: Map<string, Listed>, held: Records, name: string): Map<string, Listed> {
  const broken = (key: string, record: Listed) =>
    !held.has(key) && (brokenKeys.has(`${name} ${key}`) || JSON.stringify(record).includes('"content":"'))
  return new Map([...listed].filter(([key, record]) => !broken(key, record)))
}

/** The canaries' records that no table takes. */
const brokenKeys = new Set(['organization_users u-2', 'session_messages s-1/m-2'])

function compare(
  name: string,
  listed: Map<string, Listed>,
  { held, rows }: { held: Records; rows: string[] },
): string[] {
  const lost = [...listed.keys()].filter((key) => !held.has(key))
  const invented = [...held.keys()].filter((key) => !listed.has(key))
  const other = [...listed].filter(([key, record]) => held.has(key) && !isSameBut(record, held.get(key)))
  const keys = rows.map((row) => (JSON.parse(row) as unknown[]).slice(0, -2).join('/'))
  const twice = keys.filter((key, at) => keys.indexOf(key) !== at)
  const unread = [...new Set(keys)].filter((key) => !held.has(key))
  const unpublished = [...held.keys()].filter((key) => !keys.includes(key))
  const say = (what: string, some: readonly string[]) =>
    some.length === 0 ? [] : [`${name}: ${some.length} ${what}: ${some.slice(0, told).join(', ')}`]
  return [
    ...say('records of the platform are lost', lost),
    ...say('records are invented', invented),
    ...say(
      'records are not as the platform has them',
      other.map(([key]) => key),
    ),
    ...say('rows stand twice in the table of current rows', twice),
    ...say('current rows are of no record', unread),
    ...say('records are in no current row', unpublished),
  ]
}

/** Whether a value is what the platform sends, but for texts of which secrets were taken. */
function isSameBut(sent: unknown, held: unknown): boolean {
  if (typeof held === 'string' && held.includes('redacted:hmac-sha256:'))
    return typeof sent !== 'object' || sent === null
  if (typeof sent !== 'object' || sent === null || typeof held !== 'object' || held === null) {
    return isDeepStrictEqual(sent, held)
  }
  const names = new Set([...Object.keys(sent), ...Object.keys(held)])
  return [...names].every((name) => isSameBut((sent as Listed)[name], (held as Listed)[name]))
}

/** The rows of the tables of current rows, without reading what happened. */
async function currentTables(stored: Stored): Promise<Tables> {
  const isHintOfLog = (key: string) =>
    /^iceberg\/\w+\/metadata\/version-hint\.text$/.test(key) && !key.includes('_current/')
  const objects = new Map([...stored.objects].filter(([key]) => !isHintOfLog(key)))
  return await tablesViewOf({ ...stored, objects }, streams)
}
