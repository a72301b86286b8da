import type { PageStore } from '../report/nightly-page.ts'
import { latestReportKey, reportKey } from './lake-paths.ts'
import type { ObjectStore } from './objects.ts'

/** Nightly pages in a bucket: each under the day on which its run was due, and the newest besides under a name that stays. */
export function createPages(objects: Pick<ObjectStore, 'put'>): PageStore {
  return {
    write: async ({ scheduledAt, page }) => {
      const bytes = Buffer.from(page)
      const key = reportKey(scheduledAt)
      for (const each of [key, latestReportKey])
        await objects.put(each, bytes, { contentType: 'text/html; charset=utf-8' })
      return { key, bytes: bytes.byteLength }
    },
  }
}
