import type { Clock } from '../core/clock.ts'
import type { Run } from '../sync/context.ts'
import type { KnownSchedule } from '../sync/schedules.ts'
import { html } from './html.ts'
import { emptyNight, type NightFacts, type NightPorts, readNight } from './night/facts.ts'
import { nightSections, nightStyle } from './night/sections.ts'
import { verdictOf } from './night/verdict.ts'
import { renderPage } from './page.ts'
import type { DrawnPicture } from './pictures/picture.ts'
import type { LakeRows } from './pictures/ports.ts'
import { readPictures } from './pictures/read-pictures.ts'
import { pictureSections } from './pictures/sections.ts'
import { pictureStyle } from './pictures/style.ts'

/** A page, and the facts that it was made from. */
export type NightlyPage = { page: string; facts: NightFacts }

/** What a page is made from. */
export type NightlyPorts = NightPorts & { lakeRows: LakeRows; schedules: readonly KnownSchedule[] }

/** When a page is made, and what ends the commands that it shows: ` --local=./folder`, or nothing on AWS. */
type Options = { now: number; place?: string }

/** Makes the page of a night: whether the data is in, and what happens on the platform. */
export async function makeNightlyPage(ports: NightlyPorts, { now, place }: Options): Promise<NightlyPage> {
  const facts = await readNight(ports, { now, schedules: ports.schedules })
  const pictures = await readPictures(ports.lakeRows, { now })
  return { page: render(facts, { pictures, place }), facts }
}

/** Keeps pages where people find them. */
export type PageStore = {
  /** Writes the page of the run that was due at a time, Unix ms. Repeating it replaces the page. */
  write(night: { scheduledAt: number; page: string }): Promise<{ key: string; bytes: number }>
}

/** Makes the page of a run that was published, and keeps it. */
export async function writeNightlyPage(
  { scheduledAt }: Run,
  { pages, clock, ...ports }: NightlyPorts & { pages: PageStore; clock: Clock },
): Promise<{ key: string; bytes: number; isIn: boolean }> {
  const { page, facts } = await makeNightlyPage(ports, { now: clock.now() })
  return { ...(await pages.write({ scheduledAt, page })), isIn: verdictOf(facts).isGood }
}

/** Makes the page of an installation that was never used. */
export function emptyNightlyPage({ now, place }: Options): NightlyPage {
  const facts = emptyNight({ now, schedules: [] })
  return { page: render(facts, { pictures: [], place }), facts }
}

function render(
  facts: NightFacts,
  { pictures, place }: { pictures: readonly DrawnPicture[]; place: string | undefined },
): string {
  return renderPage({
    title: 'The night at a glance',
    writtenAt: facts.writtenAt,
    style: nightStyle + pictureStyle,
    sections: [...nightSections(facts, { place }), ...(pictures.length > 0 ? pictureSections(pictures) : [])],
    footer: html`Numbers are those of platform-sync status and of what is published. Times of day are UTC.`,
  })
}
