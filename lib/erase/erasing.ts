import type { PublishLease } from '../publish/ports.ts'
import type { Finder } from './person.ts'
import type { EraseDeps } from './ports.ts'

/** An erasure while it is carried out. */
export type Erasing = { finder: Finder; fingerprint: string; lease: PublishLease; deps: EraseDeps }

/** What the erasure works with, renewing its lease whatever it looks at: to look through everything takes longer than a lease lasts. */
export function renewing<D extends EraseDeps>(deps: D, { stillMine }: PublishLease): D {
  const { contents, records } = deps
  return {
    ...deps,
    contents: {
      ...contents,
      mentions: async (...of) => {
        await stillMine()
        return await contents.mentions(...of)
      },
    },
    records: {
      ...records,
      all: async function* () {
        for await (const item of records.all()) {
          await stillMine()
          yield item
        }
      },
    },
  }
}
