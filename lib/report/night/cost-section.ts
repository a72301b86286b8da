import { html } from '../html.ts'
import { factList, type PageSection } from '../page.ts'
import { amount } from '../words.ts'
import type { NightFacts } from './facts.ts'

/** What the last run asked of the platform and of AWS, as far as its counts know it. */
export function costSection({ cost }: NightFacts): PageSection {
  const body =
    cost === null
      ? html`<p>No run is on record.</p>`
      : html`${factList([
          ['Requests to the platform', amount(cost.requests)],
          ['Records received', amount(cost.received)],
          ['Records written to DynamoDB', amount(cost.recordWrites)],
          ['Files published to S3', amount(cost.files)],
          ['Their size', size(cost.bytes)],
          ...(cost.usd === null ? [] : [['S3 and DynamoDB on AWS', `${cost.usd.toFixed(4)} USD`] as const]),
        ])}<p class="soft">${
          cost.usd === null
            ? 'What lists of messages cost is told in the manual (docs/operations.md, Cost).'
            : 'An estimate at list prices, at most, by the table of the manual (docs/operations.md, Cost). Lambda and Step Functions come on top. A laptop pays nothing.'
        }</p>`
  return { id: 'cost', title: 'What the last run cost', body }
}

function size(bytes: number): string {
  if (bytes < 1e3) return `${bytes} B`
  return bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
}
