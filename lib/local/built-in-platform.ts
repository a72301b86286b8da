import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { FatalError } from '../core/errors.ts'
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

/** Whether a folder belongs to the built-in platform, to another one, or is new. */
export const ownerOf = (dir: string): 'built-in' | 'other' | 'nobody' => {
  if (existsSync(join(dir, fileName))) return 'built-in'
  return existsSync(join(dir, 'dynamodb')) ? 'other' : 'nobody'
}

/** @throws FatalError `damaged_state` when the file is none of ours. */
export const readBuiltInPlatform = (dir: string): BuiltInPlatform => {
  if (ownerOf(dir) !== 'built-in') return BuiltInPlatform.parse({})
  try {
    return BuiltInPlatform.parse(JSON.parse(readFileSync(join(dir, fileName), 'utf8')))
  } catch (cause) {
    const message = `${join(dir, fileName)} can't be read: ${reasonOf(cause)}. Correct it, or delete the folder ${dir} to start anew`
    throw new FatalError(message, { code: 'damaged_state', cause })
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof z.ZodError ? z.prettifyError(error).replaceAll('\n', ' ') : (error as Error).message

/** Writes down what the platform of a folder is made from. */
export const writeBuiltInPlatform = (dir: string, platform: BuiltInPlatform): void => {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, fileName), `${JSON.stringify(platform, null, 2)}\n`)
}

/** Starts the platform of a folder, as it was left. */
export const startBuiltInPlatform = async ({ seed, counts, days, faults }: BuiltInPlatform): Promise<Simulator> => {
  const simulator = await startSimulator({ seed, counts })
  for (let day = 0; day < days; day++) simulator.advance()
  for (const fault of faults) simulator.fault(fault)
  return simulator
}

const ours = ['dynamodb', 's3', 'sqs', 'plans', 'limits.csv', 'redaction-key', signingKeyFile, fileName]

/**
 * Removes the state that `--local` left in a folder, and nothing else, if it came from the built-in platform.
 * @throws FatalError `usage` when it came from another one, or a process uses it now.
 */
export const emptyFolder = (dir: string): void => {
  if (ownerOf(dir) === 'other') {
    const message = `${dir} holds data of another platform, and a demo starts from scratch. Name another folder: demo --local ./demo-data`
    throw new FatalError(message, { code: 'usage' })
  }
  mkdirSync(dir, { recursive: true })
  const lock = lockFolder(dir)
  try {
    for (const name of ours) rmSync(join(dir, name), { recursive: true, force: true })
  } finally {
    lock.release()
  }
}

/** The key under which secrets become fingerprints: made once per folder, readable by its owner alone. */
export const localRedactionKey = (dir: string): string => {
  const file = join(dir, 'redaction-key')
  mkdirSync(dir, { recursive: true })
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('hex'), { mode: 0o600, flag: 'wx' })
  return readFileSync(file, 'utf8').trim()
}
