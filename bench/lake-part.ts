import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '../lib/local/simulator/simulator.ts'
import { streamNamed } from '../lib/streams/index.ts'
import type { Figure } from './figures.ts'
import { type Installation, type Ran, startInstallation } from './lake-nights.ts'
import { lakeReaders } from './lake-readers.ts'

/** Sessions of the platform, the share of them that changes in a night, and the nights after which readers are measured. */
type Shape = { sessions: number; changed: number; measuredAfter: readonly number[] }

const shapes: readonly Shape[] = [
  { sessions: 10_000, changed: 0.09, measuredAfter: [30] },
  { sessions: 1_000, changed: 0.05, measuredAfter: [30, 365] },
]

const start = Date.UTC(2026, 0, 1, 2)
const dayMs = 86_400_000
const sessions = streamNamed('sessions')

/** (i) What a night of sessions leaves in the lake, and what many nights cost those who ask for the sessions as they are now. */
export async function lakeFiles(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const shape of shapes) figures.push(...(await livedThrough(shape)))
  return figures
}

async function livedThrough({ sessions: count, changed, measuredAfter }: Shape): Promise<Figure[]> {
  const dir = await mkdtemp(join(tmpdir(), 'bench-lake-'))
  const rates = { changed, added: 0.002, removed: 0.002 }
  const platform = await startSimulator({ counts: { sessions: count }, startedAt: start, rates: { sessions: rates } })
  const time = { night: 0 }
  const began = Date.now()
  const now = () => start + time.night * dayMs + (Date.now() - began)
  const lived = await startInstallation({ dir: join(dir, 'lived'), platform, now })
  const part = `lake of ${count.toLocaleString('en-US')} sessions`
  const figures: Figure[] = []
  const nights: Ran[] = []
  try {
    for (; time.night <= Math.max(...measuredAfter); time.night++) {
      if (time.night > 0) platform.advance()
      nights.push(await lived.run('nightly', [sessions]))
      if (!measuredAfter.includes(time.night)) continue
      const after = `after ${time.night} nights`
      figures.push(...leftBehind(part, nights.slice(1), after))
      const fresh = await ofOneNight({ dir: join(dir, after), platform, now })
      figures.push(...(await asked({ part, after, lived, fresh, dir })))
      await fresh.close()
    }
    return figures
  } finally {
    await lived.close()
    await platform.close()
    await rm(dir, { recursive: true, force: true })
  }
}

/** An installation that has the same sessions as one that lived through many nights, from one night. */
async function ofOneNight(place: { dir: string; platform: Simulator; now: () => number }): Promise<Installation> {
  const fresh = await startInstallation(place)
  await fresh.run('nightly', [sessions])
  return fresh
}

function leftBehind(part: string, nights: readonly Ran[], after: string): Figure[] {
  const files = nights.map((night) => night.files.length)
  const bytes = nights.flatMap((night) => night.files).reduce((sum, file) => sum + file.bytes, 0)
  const changes = nights.flatMap(({ counts }) => counts).reduce((sum, each) => sum + each.inserted + each.updated, 0)
  const mean = Math.round(changes / nights.length)
  return [
    {
      ...{
        part,
        measure: `${after}: files of a night with ${mean} changes, most, for ${sessions.tables.length} tables`,
      },
      ...{ value: Math.max(...files), unit: 'files', aim: { most: sessions.tables.length } },
    },
    {
      ...{ part, measure: `${after}: bytes of such a night, on average` },
      ...{ value: bytes / nights.length, unit: 'bytes', aim: null },
    },
  ]
}

type Asked = { part: string; after: string; lived: Installation; fresh: Installation; dir: string }

async function asked({ part, after, lived, fresh, dir }: Asked): Promise<Figure[]> {
  const readers = await lakeReaders({ lived, fresh, dir })
  try {
    const figures: Figure[] = []
    for (const { what, milliseconds, ratio, aim } of await readers.measure()) {
      const measure = `${after}: ${what} (${milliseconds.toFixed(0)} ms)`
      figures.push({ part, measure, value: ratio, unit: 'ratio', aim })
    }
    return figures
  } finally {
    await readers.close()
  }
}
