import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import dynalite from 'dynalite'

type Database = {
  readonly status: string
  open(): Promise<void>
  close(): Promise<void>
  get(...asked: unknown[]): Promise<unknown>
  getSync(...asked: unknown[]): unknown
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

// All databases of a process share the one prototype.
let areReadsAtOnce = false

/**
 * DynamoDB by dynalite, its state in LevelDB under `path`. The database is opened once before, since dynalite answers
 * nothing at all when it can't be.
 */
export async function createDynamoDb(path: string): Promise<Server> {
  const { Level } = createRequire(import.meta.resolve('dynalite'))('level') as { Level: Level }
  if (!areReadsAtOnce) readAtOnce(Level)
  areReadsAtOnce = true
  const database = new Level(path)
  await database.open()
  await database.close()
  return dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
}
