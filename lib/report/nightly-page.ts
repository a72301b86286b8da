import { html } from './html.ts'
import type { NightFacts } from './night/facts.ts'
import { nightSections, nightStyle } from './night/sections.ts'
import { renderPage } from './page.ts'

/** The page of a night: whether the data is in. `place` ends the commands that it shows. */
export function renderNightlyPage(facts: NightFacts, options: { place?: string } = {}): string {
  return renderPage({
    title: 'The night at a glance',
    writtenAt: facts.writtenAt,
    style: nightStyle,
    sections: nightSections(facts, options),
    footer: html`Numbers are those of platform-sync status and of what is published. Times of day are UTC.`,
  })
}
