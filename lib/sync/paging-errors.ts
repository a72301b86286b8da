import { FatalError, RetryableError } from '../core/errors.ts'

/** The platform refuses tokens that it gave, each time anew. */
export function refusedTooOften(stream: string, times: number) {
  return new RetryableError(
    `${stream}: the platform refused a page token ${times} times in this run, so the list can't be read to its end. ` +
      'Nothing was deleted; the next run tries again.',
    { code: 'page_token_refused' },
  )
}

/** A list that went on from a token would run in a circle. */
export function repeatedToken(stream: string) {
  return new FatalError(
    `${stream}: pagination stalled, the list gave a page token again that it had given before. ` +
      'Nothing was deleted and the checkpoint stays; run again, and report it to the platform if it recurs.',
    { code: 'stalled_list' },
  )
}

/** A page that leads nowhere. */
export function noNextPage(stream: string) {
  return new FatalError(`${stream}: a page is neither the last nor names a next one.`, { code: 'bad_pagination' })
}

/** A list that goes on, and brings nothing. */
export function stalled(stream: string, pages: number) {
  return new FatalError(
    `${stream}: the list is stalled, ${pages} pages in a row brought no new record although each had a fresh ` +
      'page token. Nothing was deleted; report it to the platform.',
    { code: 'stalled_list' },
  )
}
