import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import * as z from 'zod'
import type { FileRows } from '../report/night/file-rows.ts'
import type { ObjectStore } from './objects.ts'
import { readRows } from './read-rows.ts'

const QuarantineLine = z.object({ reasons: z.array(z.string()) })

/** Published files of a bucket, for those who look into them. */
export function createFileRows(objects: Pick<ObjectStore, 'get'>): FileRows {
  return {
    read: async function* ({ key }, columns) {
      const bytes = await objects.get(key)
      if (bytes) yield* readRows(bytes, columns)
    },
    reasons: async ({ key }) => {
      const bytes = await objects.get(key)
      const text = bytes ? (await promisify(gunzip)(bytes)).toString() : ''
      const lines = text.split('\n').filter((line) => line !== '')
      return lines.map((line) => QuarantineLine.parse(JSON.parse(line)).reasons)
    },
  }
}
