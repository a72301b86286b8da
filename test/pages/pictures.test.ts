import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { html } from '../../lib/report/html.ts'
import { renderPage } from '../../lib/report/page.ts'
import { periods } from '../../lib/report/pictures/periods.ts'
import { readPictures } from '../../lib/report/pictures/read-pictures.ts'
import { pictureSections } from '../../lib/report/pictures/sections.ts'
import { pictureStyle } from '../../lib/report/pictures/style.ts'
import { lakeOfTwoNights, now } from '../report/pictures/lake.ts'
import { launch, onPaper, withPage } from './browser.ts'
import { accessibilityFaults, overflowAt, structureFaults, unfold } from './checks.ts'

let browser: Browser
let page: string
beforeAll(async () => {
  browser = await launch()
  const lake = await lakeOfTwoNights()
  const sections = pictureSections(await readPictures(lake.rows, { now }))
  lake.close()
  const writtenAt = new Date(now).toISOString()
  page = renderPage({ title: 'Pictures', writtenAt, sections, footer: html`The end.`, style: pictureStyle })
})
afterAll(() => browser.close())

describe('pictures of odd data', () => {
  it('fit a phone and a desk in each period, with all tables open, without errors and requests', async () => {
    await withPage(browser, { html: page }, async ({ tab, troubles }) => {
      await unfold(tab)
      for (const { id } of periods) {
        await tab.locator(`#period-${id}`).check()
        for (const width of [360, 1200]) expect(await overflowAt(tab, width)).toEqual([])
      }
      expect(troubles).toEqual([])
    })
  })

  it.each(['light', 'dark'] as const)('have contrast, names and an order of headings in the %s', async (scheme) => {
    await withPage(browser, { html: page, scheme }, async ({ tab }) => {
      await unfold(tab)
      expect(await accessibilityFaults(tab)).toEqual([])
      expect(await structureFaults(tab)).toEqual([])
    })
  })

  it('change their period by the keyboard, show that one alone, and print it', async () => {
    await withPage(browser, { html: page }, async ({ tab }) => {
      const shown = () => tab.locator('#sessions-per-day h4:visible').count()
      const visible = (period: string) => tab.locator(`#sessions-per-day .in-${period}`).isVisible()
      expect([await shown(), await visible('30')]).toEqual([1, true])
      await tab.locator('#period-30').focus()
      await tab.keyboard.press('ArrowRight')
      expect([await shown(), await visible('90')]).toEqual([1, true])
      await onPaper(tab)
      expect([await shown(), await visible('90')]).toEqual([1, true])
      expect(await tab.getByRole('img', { name: 'Credits by model' }).count()).toBe(1)
    })
  })
})
