import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import dynalite from 'dynalite'

type Level = new (path: string) => { open(): Promise<void>; close(): Promise<void> }

/**
 * DynamoDB by dynalite, its state in LevelDB under `path`. The database is opened once before, since dynalite answers
 * nothing at all when it can't be.
 */
export async function createDynamoDb(path: string): Promise<Server> {
  const { Level } = createRequire(import.meta.resolve('dynalite'))('level') as { Level: Level }
  const database = new Level(path)
  await database.open()
  await database.close()
  return dynalite({ path, createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
}
