import { FatalError, RetryableError } from '../core/errors.ts'

/** The error of a list whose page tokens the platform refused again and again. */
export function refusedTooOften(stream: string, times: number) {
  return new RetryableError(
    `${stream}: the platform refused a page token ${times} times in this run, so the list can't be read to its end. ` +
      'Nothing was deleted; the next run tries again.',
    { code: 'page_token_refused' },
  )
}

/** The error of a list that gave a page token twice. */
export function repeatedToken(stream: string) {
  return new FatalError(
    `${stream}: pagination stalled, the list gave a page token again that it had given before. ` +
      'Nothing was deleted and the checkpoint stays; run again, and report it to the platform if it recurs.',
    { code: 'stalled_list' },
  )
}

/** The error of a page that is no last one and has no next one. */
export function noNextPage(stream: string) {
  return new FatalError(`${stream}: a page is neither the last nor names a next one.`, { code: 'bad_pagination' })
}

/** The error of a list that goes on without bringing anything new. */
export function stalled(stream: string, barrenPages: number) {
  return new FatalError(
    `${stream}: the list is stalled, ${barrenPages} pages in a row brought no new record although each had a fresh ` +
      'page token. Nothing was deleted; report it to the platform.',
    { code: 'stalled_list' },
  )
}
