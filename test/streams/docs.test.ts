import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { streamsDocFile } from '../../lib/cli/docs.ts'
import { renderStreamsDoc } from '../../lib/streams/docs.ts'
import { streams } from '../../lib/streams/index.ts'
import { isPlatformStream, tablesOf } from '../../lib/streams/stream.ts'
import { columnsOf } from '../../lib/streams/table.ts'

it('docs/streams.md says what the declarations say', async () => {
  const onDisk = await readFile(streamsDocFile, 'utf8')
  expect(onDisk === renderStreamsDoc(streams), 'docs/streams.md is out of date: run `npm run docs`').toBe(true)
})

it('docs/streams.md has every stream, table and column in a well-formed table row', () => {
  const lines = renderStreamsDoc(streams).split('\n')
  for (const stream of streams) {
    expect(lines).toContain(`## ${stream.name}`)
    for (const table of tablesOf(stream)) {
      expect(lines).toContain(`### Table \`${table.name}\``)
      for (const column of columnsOf(table)) {
        expect(lines).toContain(`| \`${column.name}\` | ${column.type} | ${column.doc} |`)
      }
    }
  }
})

it('docs/streams.md tells how each list is asked for', () => {
  const doc = renderStreamsDoc(streams)
  expect(doc).toContain('by `startAfter`, 100 records a page')
  expect(doc).toContain('by `cursor`, 100 records a page')
  expect(doc).toContain('none, the list answers whole')
})

const modes = {
  append: 'append',
  full_refresh: 'full refresh with change detection',
  incremental: 'incremental, the lists of parents that changed',
}

it('docs/streams.md tells how each stream is brought up to date, and an endpoint only of what has one', () => {
  const sections = renderStreamsDoc(streams).split(/^## /m)
  for (const stream of streams) {
    const section = sections.find((text) => text.startsWith(`${stream.name}\n`))
    expect(section).toContain(`- Sync mode: ${modes[stream.mode]}\n`)
    expect(section?.includes('- Endpoint: `GET {')).toBe(isPlatformStream(stream))
  }
})
