import { DeleteMessageCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { writeXlsx } from 'hucre/xlsx'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLog } from '../../../lib/core/log.ts'
import { defaultRules } from '../../../lib/limits/entries.ts'
import { type ImportDeps, importFile } from '../../../lib/limits/intake/import-file.ts'
import { parseIntent } from '../../../lib/limits/intent.ts'
import type { Inbox } from '../../../lib/limits/ports.ts'
import { createInbox } from '../../../lib/stores/inbox.ts'
import { createObjectStore, type ObjectStore } from '../../../lib/stores/objects.ts'
import { useEmulatedLimits } from '../emulated.ts'
import { intent, message, type Platform, start, startPlatform, workerOn } from '../fixture.ts'

const limits = useEmulatedLimits()
let platform: Platform
let inbox: Inbox & Pick<ObjectStore, 'list'>
beforeAll(async () => {
  platform = await startPlatform()
  const bucket = { s3: limits().emulated.s3, bucket: limits().variables.INBOX_BUCKET ?? '' }
  inbox = { ...createInbox(bucket), list: createObjectStore(bucket).list }
})
afterAll(() => platform.simulator.close())
beforeEach(async () => inbox.remove(await inbox.list('')))

const droppedAt = start
function file(key: string) {
  return { key, droppedAt, droppedBy: 'arn:hr' }
}

function setUp(more: Partial<ImportDeps> = {}) {
  const worker = workerOn(platform)
  const bodies: string[] = []
  const queue = {
    sendBatch: async (messages: { body: string }[]) => {
      bodies.push(...messages.map(({ body }) => body))
      return { taken: [], refused: [] }
    },
  }
  const deps: ImportDeps = {
    inbox,
    reader: worker.reader,
    queue,
    rules: defaultRules,
    clock: platform.clock,
    random: () => 0,
    log: silentLog,
    ...more,
  }
  return { worker, bodies, deps }
}

function drop(key: string, text: string) {
  return inbox.put(key, Buffer.from(text), { contentType: 'text/csv' })
}
async function textOf(key = '') {
  return Buffer.from((await inbox.get(key)) ?? []).toString()
}

describe('a file dropped into the inbox', () => {
  it('is published as intents, and lies under done/ with its result', async () => {
    const { worker, bodies, deps } = setUp()
    const [ana, bob] = platform.users as [string, string]
    await drop('hr/limits.csv', `email,limit\n${ana},1\n${bob},2\n`)
    expect(await importFile(file('hr/limits.csv'), deps)).toMatchObject({ status: 'published' })
    expect(bodies.map(parseIntent)).toMatchObject([
      {
        requestedBy: 'arn:hr',
        source: 'hr/limits.csv',
        requestedAt: '2026-05-06T10:00:00.000Z',
        limits: [
          { email: ana, limit: 1 },
          { email: bob, limit: 2 },
        ],
      },
    ])
    const name = 'done/20260506T100000Z-hr_limits.csv'
    expect(await inbox.list('')).toEqual([name, `${name}.result.json`])
    expect(JSON.parse(await textOf(`${name}.result.json`))).toMatchObject({
      changes: [{ email: ana }, { email: bob }],
      same: [],
    })
    await worker.apply(bodies.map((body) => message(body)))
    expect(platform.simulator.limits.get(bob)).toBe(2)
  })

  it.each(['\ufffe', '\uffff', '\u{1f600}'])('may have %j in its name (SQS-14)', async (odd) => {
    const { queue, sqs, queueUrl } = limits()
    const { deps } = setUp({ queue })
    const key = `hr/limits${odd}.csv`
    await drop(key, `email,limit\n${platform.users[0]},1\n`)
    expect(await importFile(file(key), deps)).toMatchObject({ status: 'published' })
    const received = await sqs.send(new ReceiveMessageCommand({ QueueUrl: queueUrl }))
    const [{ Body = '', ReceiptHandle } = {}] = received.Messages ?? []
    expect(parseIntent(Body).source).toBe(key)
    await sqs.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }))
  })

  it('stands against a file that was dropped before it and is applied after it was planned', async () => {
    const { worker, bodies, deps } = setUp()
    const [ana] = platform.users as [string]
    await worker.apply([message(intent({ [ana]: 1 }))])
    await drop('wrong.csv', `email,limit\n${ana},99\n`)
    await importFile({ ...file('wrong.csv'), droppedAt: start + 1_000 }, deps)
    await drop('right.csv', `email,limit\n${ana},1\n`)
    await importFile({ ...file('right.csv'), droppedAt: start + 2_000 }, deps)
    await worker.apply(bodies.map((body) => message(body)))
    expect(platform.simulator.limits.get(ana)).toBe(1)
  })

  it('may be as long as it likes, as long as few of its limits change', async () => {
    const { worker, deps } = setUp({ rules: { ...defaultRules, maxChanges: 1 } })
    await worker.apply([message(intent(Object.fromEntries(platform.users.slice(0, 5).map((user) => [user, 5]))))])
    await drop('limits.csv', `email,limit\n${platform.users.slice(0, 6).join(',5\n')},5\n`)
    expect(await importFile(file('limits.csv'), deps)).toMatchObject({ status: 'published' })
  })

  it('is left for its own notification when it took the place of one that was half done', async () => {
    const { bodies, deps } = setUp()
    await drop('limits.csv', 'email,limit\nana@x.io,5\n')
    const failing = {
      sendBatch: async () => {
        throw new Error('killed')
      },
    }
    await expect(importFile(file('limits.csv'), { ...deps, queue: failing })).rejects.toThrow('killed')
    await drop('limits.csv', 'email,limit\nana@x.io,6\n')
    await importFile(file('limits.csv'), deps)
    expect(bodies.map(parseIntent)).toMatchObject([{ limits: [{ limit: 5 }] }])
    await importFile({ ...file('limits.csv'), droppedAt: start + 60_000 }, deps)
    expect(bodies.map(parseIntent)).toMatchObject([{ limits: [{ limit: 5 }] }, { limits: [{ limit: 6 }] }])
    expect(await inbox.list('limits.csv')).toEqual([])
  })

  it('is left for its own notification when it took the place of one that was being moved', async () => {
    const { bodies, deps } = setUp()
    await drop('limits.csv', 'email,limit\nana@x.io,5\n')
    const queue = {
      sendBatch: async (messages: { body: string }[]) => {
        await drop('limits.csv', 'email,limit\nana@x.io,6\n')
        return deps.queue.sendBatch(messages as never)
      },
    }
    await importFile(file('limits.csv'), { ...deps, queue })
    expect(await textOf('limits.csv')).toContain('ana@x.io,6')
    expect(await textOf('done/20260506T100000Z-limits.csv')).toContain('ana@x.io,5')
    expect(bodies).toHaveLength(1)
  })

  it('may be an Excel workbook, which lies under done/ as one, with how it was read', async () => {
    const { bodies, deps } = setUp()
    const rows = [
      ['Team', 'E-Mail', 'Limit'],
      ['it', 'ana@x.io', 5],
    ]
    const bytes = await writeXlsx({ sheets: [{ name: 'May', rows }] })
    await inbox.put('may.xlsx', bytes, { contentType: 'application/octet-stream' })
    expect(await importFile(file('may.xlsx'), deps)).toMatchObject({ status: 'published' })
    expect(bodies.map(parseIntent)).toMatchObject([{ source: 'may.xlsx', limits: [{ email: 'ana@x.io', limit: 5 }] }])
    const name = 'done/20260506T100000Z-may.xlsx'
    expect(Buffer.from((await inbox.get(name)) ?? []).equals(Buffer.from(bytes))).toBe(true)
    expect(JSON.parse(await textOf(`${name}.result.json`))).toMatchObject({
      notes: ['The sheet "May" was read.', 'Columns that are not used: Team (A).'],
    })
  })

  it.each([
    ['a bad row', 'email,limit\nana@x.io,5\nbob@x.io,5.5\n', /line 3: .*bob@x.io,5.5/],
    ['an address with two limits', 'email,limit\nana@x.io,5\nAna@x.io,6\n', /lines 2, 3: ana@x.io/],
    ['an ambiguous limit', 'email;limit\nana@x.io;1,000\n', /line 2: column B \(limit\): its thousands are set apart/],
    ['other columns', 'name;limit\nana@x.io;5\n', /and has "name", "limit"/],
    ['no rows (PROV-11)', 'email,limit\n', /no rows/],
    ['nothing', '', /no rows/],
    ['a BOM alone', '\ufeff', /no rows/],
  ])('with %s is refused as a whole, with a report that says where and why', async (_what, text, reason) => {
    const { bodies, deps } = setUp()
    await drop('limits.csv', text)
    expect(await importFile(file('limits.csv'), deps)).toMatchObject({ status: 'refused' })
    expect(bodies).toEqual([])
    const name = 'failed/20260506T100000Z-limits.csv'
    expect(await inbox.list('')).toEqual([name, `${name}.report.txt`])
    expect(await textOf(`${name}.report.txt`)).toMatch(reason)
    expect(await textOf(name)).toBe(text)
  })

  it('is refused unread when it is larger than 16 MiB, and lies under failed/ with a report', async () => {
    const key = 'hr/every one+1.csv'
    await inbox.put(key, Buffer.alloc(16 * 1024 * 1024 + 1, 'x'), { contentType: 'text/csv' })
    const read: string[] = []
    const counting: Inbox = {
      ...inbox,
      get: (one) => {
        read.push(one)
        return inbox.get(one)
      },
    }
    const { bodies, deps } = setUp({ inbox: counting })
    expect(await importFile(file(key), deps)).toMatchObject({ status: 'refused' })
    expect([bodies, read]).toEqual([[], []])
    const name = 'failed/20260506T100000Z-hr_every one+1.csv'
    expect(await inbox.list('')).toEqual([name, `${name}.report.txt`])
    expect(await textOf(`${name}.report.txt`)).toContain('16777217 bytes')
    expect((await inbox.head(name))?.bytes).toBe(16 * 1024 * 1024 + 1)
  })

  it.each([
    ['more changes than allowed', { ...defaultRules, maxChanges: 1 }, /at most 1/],
    ['a limit above the maximum', { ...defaultRules, maxLimit: 4 }, /line 2/],
  ])('with %s is refused before anything is sent', async (_what, rules, reason) => {
    const { bodies, deps } = setUp({ rules })
    await drop('limits.csv', 'email,limit\nana@x.io,5\nbob@x.io,1\n')
    const imported = await importFile(file('limits.csv'), deps)
    expect(imported).toMatchObject({ status: 'refused' })
    expect('reasons' in imported && imported.reasons.join('\n')).toMatch(reason)
    expect(bodies).toEqual([])
  })

  it('is not touched again when the notification comes twice, or speaks of what was moved', async () => {
    const { bodies, deps } = setUp()
    await drop('limits.csv', 'email,limit\nana@x.io,5\n')
    await importFile(file('limits.csv'), deps)
    expect(await importFile(file('limits.csv'), deps)).toEqual({ status: 'ignored' })
    for (const key of await inbox.list('')) expect(await importFile(file(key), deps)).toEqual({ status: 'ignored' })
    expect(bodies).toHaveLength(1)
  })

  it('is published the same way again after a death before it was moved', async () => {
    const { worker, bodies, deps } = setUp()
    const rows = platform.users.slice(0, 150).map((user, i) => `${user},${i}`)
    await drop('limits.csv', `email,limit\n${rows.join('\n')}\n`)
    const dying: Inbox = {
      ...inbox,
      remove: async () => {
        throw new Error('killed')
      },
    }
    await expect(importFile(file('limits.csv'), { ...deps, inbox: dying })).rejects.toThrow('killed')
    const first = bodies.splice(0)
    await worker.apply([message(first[0]!)])
    expect(await importFile(file('limits.csv'), deps)).toMatchObject({ status: 'published' })
    expect(bodies).toEqual(first)
  })
})
