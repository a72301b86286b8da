import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createMerger } from '../../lib/stores/merge-parts.ts'
import { createPublishingLake } from '../../lib/stores/publishing-lake.ts'
import { sessions } from '../../lib/streams/sessions.ts'
import { columnsOf } from '../../lib/streams/table.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { pathOf, undisturbed, untroubled } from './samples.ts'

const table = sessions.tables[0]

it('many parts are read side by side, but few windows at a time, and whoever waits for an answer meanwhile gets it', async () => {
  const objects = createMemoryObjects()
  const lake = createPublishingLake(objects)
  const part = (n: number) => {
    const keys = Array.from({ length: 100 }, () => randomBytes(400).toString('hex'))
    const columns = columnsOf(table).map(({ name }) => (name === 'session_id' ? keys : keys.map(() => null)))
    return lake.writeRows(pathOf({ part: n }), { table, columns, rows: keys.length }, untroubled)
  }
  const parts = await Promise.all(Array.from({ length: 60 }, (_, n) => part(n)))
  let [underWay, most, turns, isMerging] = [0, 0, 0, true]
  const getRange: typeof objects.getRange = async (...args) => {
    underWay += 1
    most = Math.max(most, underWay)
    await turn()
    underWay -= 1
    return objects.getRange(...args)
  }
  const waiting = (async () => {
    for (; isMerging; turns++) await turn()
  })()
  const limits = { rows: 1e9, bytes: 1e9, partsAtOnce: 100, readAheadBytes: 1 }
  const { files } = await createMerger({ ...objects, getRange }, limits).mergeParts(table, parts, undisturbed)
  isMerging = false
  await waiting
  expect(files.map(({ rows }) => rows)).toEqual([6_000])
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(16)
  // Each thousand rows, whether a window must be waited for or not.
  expect(turns).toBeGreaterThan(6)
})
