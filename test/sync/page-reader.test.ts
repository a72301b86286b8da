import { describe, expect, it } from 'vitest'
import { RejectedError } from '../../lib/core/errors.ts'
import { createPageReader, type ReadingState } from '../../lib/sync/page-reader.ts'
import type { Source } from '../../lib/sync/ports.ts'
import { contextOf } from './support/context.ts'
import { pagesOf, scripted, users } from './support/source.ts'

const atTheStart: ReadingState = {
  position: { at: 'start' },
  pass: 1,
  restarts: { runId: 'run', count: 0 },
  barrenPages: 0,
  pages: 0,
  apiCalls: 0,
}

async function readerOf(source: Source, state: ReadingState = atTheStart, remainingMs = Number.POSITIVE_INFINITY) {
  const { context, clock } = await contextOf({ source, deadline: { remainingMs: () => remainingMs } })
  return { clock, reader: createPageReader(context, { state, usedTokens: [], reserveMs: () => 1_000 }) }
}

describe('the page reader', () => {
  it('moves on only when a page is taken in, and remembers the tokens since it was asked last', async () => {
    const { reader } = await readerOf(pagesOf(users(2), users(2), users(1)))
    const places: unknown[] = []
    const tokens: number[] = []
    for await (const page of reader.pages()) {
      places.push(reader.state.position)
      reader.advance(page, page.records.length)
      tokens.push(reader.takeTokens().length)
    }
    expect(places).toEqual([{ at: 'start' }, { at: 'page', token: 'p1' }, { at: 'page', token: 'p2' }])
    expect(tokens).toEqual([1, 1, 0])
    expect(reader.hasEnded).toBe(true)
    expect(reader.state).toMatchObject({ position: { at: 'end' }, pages: 3, apiCalls: 3 })
  })

  it('goes on at the page where the scan stands', async () => {
    const source = pagesOf(users(1), users(1), users(1))
    const { reader } = await readerOf(source, { ...atTheStart, position: { at: 'page', token: 'p2' }, pages: 2 })
    for await (const page of reader.pages()) reader.advance(page, 1)
    expect(source.tokens).toEqual(['p2'])
    expect(reader.state.pages).toBe(3)
  })

  it('begins a new pass when a token is refused, and forgets the tokens of the one before', async () => {
    let refusals = 1
    const source = scripted((token) => {
      if (token === 'p1' && refusals-- > 0) throw new RejectedError('gone', { code: 'not_found', status: 404 })
      return token === null ? { records: users(1), nextToken: 'p1' } : { records: [], nextToken: null }
    })
    const { reader } = await readerOf(source)
    const passes: number[] = []
    for await (const page of reader.pages()) {
      passes.push(page.pass)
      reader.advance(page, 1)
    }
    expect(passes).toEqual([1, 2, 2])
    expect(source.tokens).toEqual([null, 'p1', null, 'p1'])
    expect(reader.takeTokens()).toHaveLength(1)
    expect(reader.state.restarts).toEqual({ runId: 'run', count: 1 })
  })

  it('asks for no page when the time left is what a flush and the margin need', async () => {
    const source = pagesOf(users(1))
    const { reader } = await readerOf(source, atTheStart, 1_000)
    for await (const _page of reader.pages()) throw new Error('a page was read')
    expect(source.tokens).toEqual([])
    expect(reader.hasEnded).toBe(false)
  })

  it('hands a page out and then refuses a token that came before', async () => {
    const { reader } = await readerOf(scripted(() => ({ records: users(1), nextToken: 'again' })))
    let pages = 0
    const read = async () => {
      for await (const page of reader.pages()) {
        pages += 1
        reader.advance(page, 1)
      }
    }
    await expect(read()).rejects.toThrow('gave a page token again')
    expect(pages).toBe(2)
  })
})
