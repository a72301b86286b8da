import { existsSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { diskFaultOf, reasonOf } from '../../core/disk-fault.ts'
import { FatalError, messageOf } from '../../core/errors.ts'
import { readWhole } from './dynamodb.ts'
import { folderFault, isLocked } from './lock.ts'
import { withCopy } from './look.ts'

/** A part of a folder, and what of it is damaged; null when it can be read to its end. */
export type FolderPart = { part: string; damage: string | null }

/**
 * Reads the state in a folder to its end, in a copy, and changes nothing. A file that this account may not read is no
 * damage. Null when a process works in the folder, which has found it sound.
 */
export async function checkFolder(folder: string): Promise<FolderPart[] | null> {
  if (isLocked(folder)) return null
  return withCopy(folder, async (copy) => {
    const looks: Record<string, () => unknown> = {
      'dynamodb (state, records, ledger)': () => readWhole(join(copy, 'dynamodb')),
      'sqs (queues)': () => readQueues(join(copy, 'sqs', 'fauxqs.db')),
    }
    for (const file of ['platform.json', 'owner.json']) {
      if (existsSync(join(folder, file))) looks[file] = () => JSON.parse(readFileSync(join(folder, file), 'utf8'))
    }
    const parts: FolderPart[] = []
    for (const [part, look] of Object.entries(looks)) parts.push({ part, damage: await damageOf(look, folder) })
    return parts
  })
}

async function damageOf(look: () => unknown, folder: string): Promise<string | null> {
  try {
    await look()
    return null
  } catch (error) {
    if (diskFaultOf(error) !== null) throw folderFault(folder, error) ?? error
    return reasonOf(error)
  }
}

function readQueues(file: string): void {
  if (!existsSync(file)) return
  const database = new DatabaseSync(file)
  try {
    const [row] = database.prepare('PRAGMA integrity_check').all()
    const said = String(Object.values(row ?? {})[0])
    if (said !== 'ok') throw new Error(said)
  } finally {
    database.close()
  }
}

/** Gives a folder another name beside it, so that the next sync begins anew and nothing is lost. Answers the name. */
export function setAside(folder: string, now: number): string {
  const aside = `${folder}.damaged-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, '')}`
  try {
    renameSync(folder, aside)
  } catch (cause) {
    throw new FatalError(`${folder} can't be moved to ${aside}: ${messageOf(cause)}.`, { code: 'usage', cause })
  }
  return aside
}
