import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { makeFolder } from '../../core/folders.ts'
import { bodyOf, deliverSpool, receiptOf, silenceMs } from './deliver.ts'
import { type EventText, eventOf, isHookEvent, parsed } from './event.ts'
import { readInput } from './input.ts'
import { createJournal } from './journal.ts'
import { createLock } from './lock.ts'
import { laterFolder, type MachineConfig, placeOf, readConfig } from './place.ts'
import { createPost } from './post.ts'
import { createSpool } from './spool.ts'

/**
 * The program that the agent runs at each event. It is bundled into one file that stands beside its configuration.
 *
 * `hook.cjs` keeps the event that comes on standard input, and starts itself once more to deliver it: the agent waits for
 * a disk, never for a network. `hook.cjs deliver <deadline>` is that second process. With `handed` it gets an event that
 * the spool had no place for. Both end with exit code 0 and print nothing, whatever happens.
 */
const [, file = '', mode, deadline, handed] = process.argv
const began = Date.now()
const place = placeOf(dirname(file))
const config = readConfig(place)
const journal = createJournal(place, { secret: config?.token ?? null })
const spool = createSpool(place.spool, { onBroken: (name) => unreadable(`${name} in the spool is no event.`) })
const lock = createLock(place.lock)

process.on('uncaughtException', end)
process.on('unhandledRejection', end)
const work = mode === 'deliver' ? deliver(Number(deadline)) : take()
work.then(() => process.exit(0), end)

function end(error: unknown): never {
  journal.log(`Failed: ${messageOf(error)}`)
  process.exit(0)
}

function unreadable(sentence: string): void {
  journal.count('unreadable')
  journal.log(sentence)
}

/** Keeps the event that the agent hands over, and sees to its delivery. */
async function take(): Promise<void> {
  const input = await readInput(process.stdin)
  const event = input === null ? 'The input is too long.' : eventOf(input, known())
  if (typeof event === 'string') return unreadable(event)
  const kept = keep(event)
  if (config === null) {
    journal.log(laterFolder(place) ?? 'config.json is missing or not whole: run "hooks install".')
    if (!kept) journal.count('lost')
  } else if (!kept) await startDelivery(config, event.text)
  else if (mayDeliver()) await startDelivery(config)
}

function known() {
  return { unixMs: began, host: hostname(), agentVersion: config?.agentVersion }
}

function keep(event: EventText): boolean {
  try {
    makeFolder(place.folder, 0o700)
    if (spool.add(event)) return true
    journal.log('The spool is full.')
  } catch (error) {
    journal.log(`The spool can't be written: ${messageOf(error)}`)
  }
  return false
}

/** False while a process delivers, which will find the event, and while the collector wants silence. */
function mayDeliver(): boolean {
  const { notBefore } = journal.state()
  const silentForMs = notBefore === null ? 0 : Date.parse(notBefore) - began
  // A longer silence is one of before the clock was set back.
  return !lock.isHeld(began) && !(silentForMs > 0 && silentForMs <= silenceMs)
}

/** Starts the second process, which outlives this one. An event that is handed over goes through its standard input. */
function startDelivery({ address, timeoutSeconds }: MachineConfig, event?: string): Promise<void> {
  const args = [file, 'deliver', String(began + timeoutSeconds * 1000), ...(event === undefined ? [] : ['handed'])]
  const child = spawn(process.execPath, [...proxyArgs(address), ...args], {
    // The folder that the agent works in can be removed while this runs.
    cwd: place.folder,
    detached: true,
    stdio: [event === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore'],
    windowsHide: true,
  })
  child.unref()
  return new Promise((resolve) => {
    const failed = (error: Error) => {
      journal.log(`Delivery can't be started: ${error.message}`)
      if (event !== undefined) journal.count('lost')
      resolve()
    }
    child.on('error', failed)
    child.on('spawn', () => {
      if (child.stdin === null) return resolve()
      child.stdin.on('error', failed)
      child.stdin.end(event, resolve)
    })
  })
}

/** Makes Node use the proxy of the environment, where it can (22.21, 24.5 and later). */
function proxyArgs(address: string): string[] {
  const flag = '--use-env-proxy'
  return address.startsWith('https:') && process.allowedNodeEnvironmentFlags.has(flag) ? [flag] : []
}

async function deliver(deadlineUnixMs: number): Promise<void> {
  if (config === null) return
  const post = createPost(config)
  if (handed !== undefined) {
    const text = await readInput(process.stdin)
    if (text !== null) await sendHanded(text, () => post(bodyOf([text]), Math.max(1, deadlineUnixMs - Date.now())))
  }
  await deliverSpool({ spool, journal, lock, post, now: Date.now, deadlineUnixMs })
}

/** Sends an event that is kept nowhere. If that fails, there may be place in the spool by then; if not, it is lost and counted. */
async function sendHanded(text: string, post: () => ReturnType<ReturnType<typeof createPost>>): Promise<void> {
  const event = parsed(text)
  if (!isHookEvent(event)) return
  const answer = await post().catch(() => null)
  const receipt = answer?.status === 202 ? receiptOf(answer.body) : null
  if (receipt?.accepted.has(event.id) || receipt?.refused.has(event.id)) return
  if (!keep({ id: event.id, unixMs: Date.parse(event.occurredAt), text })) journal.count('lost')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
