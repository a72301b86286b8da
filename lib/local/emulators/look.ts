import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { FatalError } from '../../core/errors.ts'
import { type Emulators, openEmulators, startFailure } from './emulators.ts'
import { addressIn } from './endpoint.ts'
import { isLocked } from './lock.ts'
import { findResources, localCredentials, localEnvironment } from './prepare.ts'
import { localSigning } from './signing-key.ts'

const startTries = 50
const startWaitMs = 100

/**
 * The emulators of a folder for those who only look. Nothing in the folder is changed, and it is not taken: a process that
 * works in it answers for its state, and several may look at the same time. Where nobody works, what is seen is the state
 * at this moment.
 * @throws FatalError `usage` when it is none, or a process has it and does not say where it answers, `damaged_state` when
 * its content can't be read.
 */
export async function lookIntoFolder({ dir }: { dir: string }): Promise<Emulators> {
  const folder = resolve(dir)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw noFolder(folder)
  for (let tries = 0; isLocked(folder); tries++) {
    const endpointUrl = addressIn(folder)
    if (endpointUrl !== null) return answering(endpointUrl, folder)
    // Whoever took the folder is just starting, or deletes it.
    if (tries >= startTries) throw silent(folder)
    await wait(startWaitMs)
  }
  return openCopy(folder)
}

async function answering(endpointUrl: string, folder: string): Promise<Emulators> {
  const found = await findResources(endpointUrl)
  const environment = { ...localEnvironment(endpointUrl), ...found, ...localSigning(folder) }
  return { endpointUrl, environment, credentials: localCredentials, close: async () => {} }
}

async function openCopy(folder: string): Promise<Emulators> {
  const { copy, remove } = copyOf(folder)
  try {
    const opened = await openEmulators(copy)
    const close = async () => {
      await opened.close()
      remove()
    }
    // The copy has no key: whoever checks signatures asks which one is the folder's.
    return { ...opened, environment: { ...opened.environment, ...localSigning(folder) }, close }
  } catch (error) {
    remove()
    throw startFailure(error, folder)
  }
}

/** Works in a copy of a folder's state, as long as that takes. */
export async function withCopy<T>(folder: string, work: (copy: string) => Promise<T>): Promise<T> {
  const { copy, remove } = copyOf(folder)
  try {
    return await work(copy)
  } finally {
    remove()
  }
}

/** Makes a copy that shares what is large: objects, and the files of the database that are written once. */
function copyOf(folder: string): { copy: string; remove: () => void } {
  const copy = mkdtempSync(join(tmpdir(), 'platform-sync-look-'))
  const remove = () => rmSync(copy, { recursive: true, force: true })
  try {
    for (const name of ['dynamodb', 's3', 'sqs']) mkdirSync(join(copy, name))
    for (const name of namesIn(join(folder, 's3'))) symlinkSync(join(folder, 's3', name), join(copy, 's3', name))
    for (const name of namesIn(join(folder, 'dynamodb'))) {
      const [from, to] = [join(folder, 'dynamodb', name), join(copy, 'dynamodb', name)]
      if (name.endsWith('.ldb')) symlinkSync(from, to)
      else if (name !== 'LOCK') copyFileSync(from, to)
    }
    for (const name of namesIn(join(folder, 'sqs'))) copyFileSync(join(folder, 'sqs', name), join(copy, 'sqs', name))
    return { copy, remove }
  } catch (error) {
    remove()
    throw startFailure(error, folder)
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith('.')) : []
}

function noFolder(folder: string) {
  const message = `${folder} is no folder: nothing was synced into it. Name the one that "sync --local" made`
  return new FatalError(message, { code: 'usage' })
}

function silent(folder: string) {
  const message = `another platform-sync uses ${folder} now, and does not say where it answers. Try again when it is done`
  return new FatalError(message, { code: 'usage' })
}
