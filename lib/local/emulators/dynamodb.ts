import { existsSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import dynalite from 'dynalite'
import { diskError, diskFaultName } from '../../core/disk-fault.ts'

type Database = {
  readonly status: string
  readonly location: string
  open(options?: { createIfMissing: boolean }): Promise<void>
  iterator(options: { fillCache: boolean }): AsyncIterable<unknown>
  close(): Promise<void>
  get(...asked: unknown[]): Promise<unknown>
  getSync(...asked: unknown[]): unknown
  put(...asked: unknown[]): Promise<unknown>
  del(...asked: unknown[]): Promise<unknown>
  batch(...asked: unknown[]): Promise<unknown>
}
type Level = (new (path: string) => Database) & { prototype: Database }

/**
 * Lets LevelDB answer at once. Dynalite reads each item before it writes it, and the table's description at each call: to
 * hand these to a thread and back takes many times as long as the reads.
 */
function readAtOnce({ prototype }: Level): void {
  const { get } = prototype
  prototype.get = async function (...asked) {
    return this.status === 'open' ? this.getSync(...asked) : get.apply(this, asked)
  }
}

/**
 * Answers a write that the disk refused as an error of the API. Dynalite would throw what it does not know, out of reach
 * of any caller, which ends the process.
 */
function answerDiskFaults({ prototype }: Level): void {
  for (const name of ['put', 'del', 'batch'] as const) {
    const write = prototype[name]
    prototype[name] = async function (...asked) {
      try {
        return await write.apply(this, asked)
      } catch (error) {
        throw refusalOf(error, dirname(this.location))
      }
    }
  }
}

function refusalOf(error: unknown, folder: string): unknown {
  const fault = diskError(error, folder)
  if (fault === null) return error
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${diskFaultName}`, message: fault.message }
  return Object.assign(fault, { statusCode: 400, body })
}

function loadLevel(): Level {
  const { Level } = createRequire(import.meta.resolve('dynalite'))('level') as { Level: Level }
  return Level
}

/** Reads a database to its end, every checksum included. @throws LevelDB's error for what is damaged. */
export async function readWhole(path: string): Promise<void> {
  if (!existsSync(join(path, 'CURRENT'))) return
  const database = new (loadLevel())(path)
  await database.open({ createIfMissing: false })
  try {
    for await (const _ of database.iterator({ fillCache: false }));
  } finally {
    await database.close()
  }
}

// All databases of a process share the one prototype.
let isMended = false

/**
 * DynamoDB by dynalite, its state in LevelDB under `path`. The database is opened once before, since dynalite answers
 * nothing at all when it can't be.
 */
export async function createDynamoDb(path: string): Promise<Server> {
  const Level = loadLevel()
  if (!isMended) {
    readAtOnce(Level)
    answerDiskFaults(Level)
  }
  isMended = true
  const database = new Level(path)
  await database.open()
  await database.close()
  return dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
}
