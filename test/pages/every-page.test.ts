import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch, onPaper, withPage } from './browser.ts'
import {
  accessibilityFaults,
  keyboardFaults,
  markupFaults,
  overflowAt,
  printedPages,
  structureFaults,
  unfold,
} from './checks.ts'
import { hostileTexts, pages } from './pages.ts'

/** From the smallest phone to a wide window, with the places between where a layout turns over. */
const widths = [360, 412, 600, 640, 641, 800, 1024, 1400]

let browser: Browser
beforeAll(async () => {
  browser = await launch()
})
afterAll(() => browser.close())

describe.each(pages)('the page "$title"', ({ title, usual, hostile, printedPages: most }) => {
  it('fits every screen, folded or not, asks for nothing and has no error', async () => {
    await withPage(browser, { html: await usual() }, async ({ tab, troubles }) => {
      expect(await tab.title()).toBe(title)
      for (const width of widths) expect(await overflowAt(tab, width)).toEqual([])
      await unfold(tab)
      for (const width of widths) expect(await overflowAt(tab, width)).toEqual([])
      expect(troubles).toEqual([])
    })
  })

  it.each(['light', 'dark'] as const)('has contrast, landmarks and names of controls in the %s', async (scheme) => {
    await withPage(browser, { html: await usual(), scheme }, async ({ tab }) => {
      await unfold(tab)
      expect(await accessibilityFaults(tab)).toEqual([])
    })
  })

  it('has headings in order, one main part, named tables and a language', async () => {
    await withPage(browser, { html: await usual() }, async ({ tab }) => {
      await unfold(tab)
      expect(await structureFaults(tab)).toEqual([])
    })
  })

  it('is used with the keyboard alone: every control is reached, and shows it', async () => {
    await withPage(browser, { html: await usual() }, async ({ tab }) => {
      expect(await keyboardFaults(tab)).toEqual([])
    })
  })

  it('prints on few sheets, without what only a screen needs', async () => {
    await withPage(browser, { html: await usual() }, async ({ tab }) => {
      const { pages, pdf } = await printedPages(tab)
      expect(pages).toBeGreaterThan(0)
      expect(pages).toBeLessThanOrEqual(most)
      expect(pdf.subarray(0, 5).toString()).toBe('%PDF-')
      await onPaper(tab)
      expect(await tab.locator('.skip').isVisible()).toBe(false)
    })
  })

  it.each(Object.entries(hostileTexts))('shows hostile data (%s) as text', async (_, text) => {
    await withPage(browser, { html: await hostile(text) }, async ({ tab, troubles }) => {
      await unfold(tab)
      for (const width of [360, 1400]) expect(await overflowAt(tab, width)).toEqual([])
      expect(await tab.title()).toBe(title)
      expect(await markupFaults(tab)).toEqual([])
      expect(await tab.locator('body').evaluate((body: { textContent: string | null }) => body.textContent)).toContain(
        text,
      )
      expect(await tab.locator('main').isVisible()).toBe(true)
      expect(troubles).toEqual([])
    })
  })
})
