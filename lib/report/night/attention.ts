import type { TableBehind } from '../../publish/behind.ts'
import { type Html, html } from '../html.ts'
import { type PageSection, shown } from '../page.ts'
import { amount, counted, duration } from '../words.ts'
import type { NightFacts, StreamNight } from './facts.ts'

/** What somebody should do or know: withheld deletes with the command that accepts them, waits, late streams, tables that are behind, notices. */
export function attentionSection({ look, streams, notices, writtenAt }: NightFacts, place: string): PageSection {
  const now = Date.parse(writtenAt)
  const items = [
    ...streams.flatMap((stream) => [withheld(stream, place), waiting(stream, now), late(stream), unread(stream)]),
    ...look.behind.map(lacking),
    ...notices.map(
      ({ severity, about, message }) => html`<span class="tag ${severity}">${severity}</span> ${about}. ${message}`,
    ),
  ].filter((item) => item !== null)
  const body =
    items.length === 0
      ? html`<p>Nothing.</p>`
      : html`<ul class="plain">${items.map((item) => html`<li>${item}</li>`)}</ul>`
  return { id: 'attention', title: 'What needs somebody', body }
}

function withheld({ stream, withheldDeletes }: StreamNight, place: string): Html | null {
  if (withheldDeletes === 0) return null
  return html`<strong>${stream}</strong>: ${counted(withheldDeletes, 'delete is', 'deletes are')} withheld. So many records were
missing from the list that it may be the list that is wrong. If they are gone indeed, accept it:
<code>platform-sync approve ${stream}${place}</code>`
}

function waiting({ stream, waitsUntil }: StreamNight, now: number): Html | null {
  if (waitsUntil === null) return null
  const left = duration(Date.parse(waitsUntil) - now)
  return html`<strong>${stream}</strong>: the platform wants no request before
<time datetime="${waitsUntil}">${shown(waitsUntil)}</time> UTC, ${left} after this page was written. A later run goes on there.`
}

function late({ stream, arrival, lagSeconds, hoursAllowed }: StreamNight): Html | null {
  if (arrival !== 'late' || lagSeconds === null || hoursAllowed === null) return null
  return html`<strong>${stream}</strong>: it was read whole ${duration(lagSeconds * 1000)} ago, and its schedule allows ${counted(hoursAllowed, 'hour')}.`
}

function unread({ stream, scanInProgress }: StreamNight): Html | null {
  if (scanInProgress === null) return null
  return html`<strong>${stream}</strong>: a scan is not at its end, with ${amount(scanInProgress.received)} records so far. The next run goes on with it.`
}

function lacking({ table, since, reason }: TableBehind): Html {
  return html`<strong>${table}</strong>: the table lacks what was published since
<time datetime="${since}">${shown(since)}</time> UTC. ${reason ?? 'There was no time for it yet: the next attempt goes on with it'}.`
}
