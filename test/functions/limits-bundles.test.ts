import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { silentLog } from '../../lib/core/log.ts'
import type { PolledRecord } from '../../lib/local/poller.ts'
import { pollOnce } from '../../lib/local/poller.ts'
import { createObjectStore } from '../../lib/stores/objects.ts'
import { send, useEmulatedLimits } from '../limits/emulated.ts'
import { intent, type Platform, startPlatform } from '../limits/fixture.ts'

// Stands in for the Lambda runtime: one event per line on standard input, one answer per line on descriptor 3.
const runner = `
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
const answers = createWriteStream('', { fd: 3 })
const { handler } = await import('./index.mjs')
const context = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis: () => 60_000 }
for await (const line of createInterface({ input: process.stdin })) {
  const answer = await handler(JSON.parse(line), context).then((result) => ({ result }), (error) => ({ error: String(error) }))
  answers.write(JSON.stringify(answer) + '\\n')
}
`
const banner =
  "import{createRequire as requireFromBundle}from'node:module';const require=requireFromBundle(import.meta.url);"

type Handler = { size: number; invoke(event: unknown): Promise<unknown>; stop(): void }

/** A function, bundled as the stack does it, alone in an empty folder with an environment of its own. */
const start = async (name: string, env: Record<string, string>): Promise<Handler> => {
  const folder = mkdtempSync(join(tmpdir(), 'platform-sync-bundle-'))
  await build({
    entryPoints: [fileURLToPath(new URL(`../../functions/${name}.ts`, import.meta.url))],
    outfile: join(folder, 'index.mjs'),
    ...{ bundle: true, minify: true, format: 'esm', platform: 'node', target: 'node24' },
    mainFields: ['module', 'main'],
    banner: { js: banner },
    logLevel: 'error',
  })
  writeFileSync(join(folder, 'run.mjs'), runner)
  const child = spawn(process.execPath, ['run.mjs'], { cwd: folder, env, stdio: ['pipe', 'ignore', 'pipe', 'pipe'] })
  const invoke = talkTo(child)
  const stop = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  return { size: statSync(join(folder, 'index.mjs')).size, invoke, stop }
}

const talkTo = (child: ChildProcess): Handler['invoke'] => {
  let errors = ''
  child.stderr?.on('data', (text) => {
    errors += text
  })
  const lines = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]()
  const died = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the bundle ended with ${code}:\n${errors}`)))
  })
  died.catch(() => {})
  return async (event) => {
    child.stdin?.write(`${JSON.stringify(event)}\n`)
    const { value } = await Promise.race([lines.next(), died])
    const { result, error } = JSON.parse(value ?? '') as { result?: unknown; error?: string }
    if (error) throw new Error(error)
    return result
  }
}

const limits = useEmulatedLimits()
let platform: Platform
let applyLimits: Handler
let importLimits: Handler
beforeAll(async () => {
  platform = await startPlatform()
  const env = {
    ...limits().variables,
    PLATFORM_APP_URL: platform.simulator.appUrl,
    PLATFORM_BASE_URL: platform.simulator.baseUrl,
    PLATFORM_API_KEY: 'sim-key',
    LIMITS_MAX_LIMIT: '10000',
    POWERTOOLS_METRICS_NAMESPACE: 'AgentPlatformSync',
  }
  applyLimits = await start('apply-credit-limits', env)
  importLimits = await start('import-credit-limits', env)
}, 60_000)
afterAll(async () => {
  applyLimits?.stop()
  importLimits?.stop()
  await platform?.simulator.close()
})

/** One turn of the event source mapping with the bundled function behind it. */
const poll = async () => {
  const { sqs, queueUrl } = limits()
  const events: { Records: PolledRecord[] }[] = []
  const answers: { batchItemFailures: { itemIdentifier: string }[] }[] = []
  await pollOnce({
    ...{ sqs, queueUrl, log: silentLog, waitSeconds: 0 },
    handle: async (Records) => {
      events.push({ Records })
      const answer = (await applyLimits.invoke({ Records })) as (typeof answers)[number]
      answers.push(answer)
      return answer
    },
  })
  return { records: events.flatMap((event) => event.Records), answers }
}

const drop = async (key: string, text: string) => {
  const { emulated, variables } = limits()
  const inbox = createObjectStore({ s3: emulated.s3, bucket: variables.INBOX_BUCKET as string })
  await inbox.put(key, Buffer.from(text), { contentType: 'text/csv' })
  await importLimits.invoke({
    Records: [
      {
        eventTime: '2026-05-06T10:00:00.000Z',
        userIdentity: { principalId: 'AWS:it' },
        s3: {
          bucket: { name: variables.INBOX_BUCKET },
          object: { key: encodeURIComponent(key).replaceAll('%20', '+') },
        },
      },
    ],
  })
  return (await inbox.list('')).sort()
}

describe('the functions of credit limits, bundled', () => {
  it('are at most 1 MB each and hold nothing of the laptop', () => {
    for (const { size } of [applyLimits, importLimits]) expect(size).toBeLessThan(1024 * 1024)
  })

  it('apply what a batch brings, and answer exactly the messages that failed', async () => {
    const [ana, ben] = platform.users as [string, string]
    const { sqs, queueUrl } = limits()
    await send(sqs, queueUrl, JSON.stringify(intent({ [ana]: 5, [ben]: 6 })))
    await send(sqs, queueUrl, 'no JSON')
    const { records, answers } = await poll()
    expect(records).toHaveLength(2)
    expect(answers).toEqual([{ batchItemFailures: [{ itemIdentifier: records[1]?.messageId }] }])
    expect(platform.simulator.limits.get(ana.toLowerCase())).toBe(5)
    const [outcome] = await limits().reader.outcomesOf(ana.toLowerCase())
    expect(outcome).toMatchObject({ outcome: 'applied', limit: 5, requestedBy: 'it@example.com' })
  })

  it('import a file of the inbox, whose limits the next batch applies', async () => {
    const cleo = platform.users[2] as string
    const listed = await drop('june limits.csv', `email,limit\n${cleo},70\n`)
    expect(listed).toEqual([
      'done/20260506T100000Z-june limits.csv',
      'done/20260506T100000Z-june limits.csv.result.json',
    ])
    await poll()
    expect(platform.simulator.limits.get(cleo.toLowerCase())).toBe(70)
  })

  it('refuse a file as a whole, with a report that names line and reason', async () => {
    const cleo = platform.users[2] as string
    const listed = await drop('july.csv', `email,limit\n${cleo},80\nb@example.com,99999\n`)
    expect(listed).toContain('failed/20260506T100000Z-july.csv.report.txt')
    expect((await poll()).records.filter(({ body }) => body.includes(cleo))).toEqual([])
    expect(platform.simulator.limits.get(cleo.toLowerCase())).toBe(70)
  })
})
