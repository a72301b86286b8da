import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
import { makeFolder } from '../core/folders.ts'
import { lockFolder } from './emulators/lock.ts'
import { signingKeyFile } from './emulators/signing-key.ts'
import { FaultRule } from './simulator/faults/rule.ts'
import { resourceNames } from './simulator/options.ts'
import { type Simulator, startSimulator } from './simulator/simulator.ts'

const fileName = 'platform.json'

/**
 * What the built-in platform of a folder is made from: the same file gives the same platform, in any process. People
 * may edit it, faults included.
 */
export const BuiltInPlatform = z.object({
  seed: z.int().default(1),
  counts: z.partialRecord(z.enum([...resourceNames, 'messagesPerSession']), z.int().min(0)).default({}),
  days: z.int().min(0).default(0).describe('How many days have passed since the beginning.'),
  faults: z.array(FaultRule).default([]),
})
export type BuiltInPlatform = z.infer<typeof BuiltInPlatform>

/** Written beside the state of a folder: it is ours, and whether another platform than the built-in one was synced into it. */
const ownerFile = 'owner.json'
const Owner = z.object({ platform: z.enum(['none', 'other']) })

/** Whether a folder belongs to the built-in platform or to another one, was only looked at, or is none of ours. */
export function ownerOf(dir: string): 'built-in' | 'other' | 'none' | 'nobody' {
  if (existsSync(join(dir, fileName))) return 'built-in'
  try {
    return Owner.parse(JSON.parse(readFileSync(join(dir, ownerFile), 'utf8'))).platform
  } catch {
    return 'nobody'
  }
}

/** Notes that the state in a folder is ours, and that another platform owns it from now on if that is so. */
export function writeOwner(dir: string, platform: 'none' | 'other'): void {
  makeFolder(dir)
  writeFileSync(join(dir, ownerFile), `${JSON.stringify({ platform })}\n`)
}

/** Whether `--local` keeps state in a folder, or a folder looks as if it did. */
export function hasState(dir: string): boolean {
  return ours.some((name) => existsSync(join(dir, name)))
}

/** @throws FatalError `damaged_state` when the file is none of ours. */
export function readBuiltInPlatform(dir: string): BuiltInPlatform {
  if (ownerOf(dir) !== 'built-in') return BuiltInPlatform.parse({})
  try {
    return BuiltInPlatform.parse(JSON.parse(readFileSync(join(dir, fileName), 'utf8')))
  } catch (cause) {
    const message = `${join(dir, fileName)} can't be read: ${reasonOf(cause)}. Correct it, or begin in another folder`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof z.ZodError ? z.prettifyError(error).replaceAll('\n', ' ') : (error as Error).message
}

/** Writes down what the platform of a folder is made from. */
export function writeBuiltInPlatform(dir: string, platform: BuiltInPlatform): void {
  makeFolder(dir)
  writeFileSync(join(dir, fileName), `${JSON.stringify(platform, null, 2)}\n`)
}

/** Starts the platform of a folder, as it was left. */
export async function startBuiltInPlatform({ seed, counts, days, faults }: BuiltInPlatform): Promise<Simulator> {
  const simulator = await startSimulator({ seed, counts })
  for (let day = 0; day < days; day++) simulator.advance()
  for (const fault of faults) simulator.fault(fault)
  return simulator
}

const ours = [
  'dynamodb',
  's3',
  'sqs',
  'plans',
  'pages',
  'limits.csv',
  'redaction-key',
  signingKeyFile,
  ownerFile,
  fileName,
]

/**
 * Removes the state that `--local` left in a folder, and nothing else, and writes down what its platform is made from.
 * @throws FatalError `usage` when the state came from another platform, is not known to be ours, or a process uses it now.
 */
export function emptyFolder(dir: string, platform: BuiltInPlatform): void {
  refuseForeign(dir)
  const lock = lockFolder(dir)
  try {
    for (const name of ours) rmSync(join(dir, name), { recursive: true, force: true })
    writeBuiltInPlatform(dir, platform)
  } finally {
    lock.release()
  }
}

/** @throws FatalError `usage` when a folder holds something of the names that `--local` uses, and no sync was ever there. */
export function refuseStranger(dir: string): void {
  const found = ours.filter((name) => existsSync(join(dir, name)))
  if (found.length === 0 || ownerOf(dir) !== 'nobody' || existsSync(join(dir, 'lock.db'))) return
  const message = `${dir} has ${found.join(', ')} in it that platform-sync did not write. Name another folder`
  throw new FatalError(message, { code: 'usage' })
}

function refuseForeign(dir: string): void {
  const owner = ownerOf(dir)
  const another = 'and a demo starts from scratch. Name another folder: demo --local ./demo-data'
  if (owner === 'other') throw new FatalError(`${dir} holds data of another platform, ${another}`, { code: 'usage' })
  const found = ours.filter((name) => existsSync(join(dir, name)))
  if (owner === 'nobody' && found.length > 0) {
    const message = `${dir} has ${found.join(', ')} in it that no sync wrote, ${another}`
    throw new FatalError(message, { code: 'usage' })
  }
  // What is in a file of this name, but none of ours, is no licence to delete what lies beside it.
  if (owner === 'built-in') readBuiltInPlatform(dir)
}

/** The key under which secrets become fingerprints: made once per folder, readable by its owner alone. */
export function localRedactionKey(dir: string): string {
  const file = join(dir, 'redaction-key')
  makeFolder(dir)
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' })
  return readFileSync(file, 'utf8').trim()
}
