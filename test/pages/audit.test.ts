import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { quarterOfRevisions, renderTrail } from './audit-page.ts'
import { launch, onPaper, withPage } from './browser.ts'
import { printedPages } from './checks.ts'

let browser: Browser
let html: string
beforeAll(async () => {
  browser = await launch()
  html = await renderTrail(quarterOfRevisions(64))
})
afterAll(() => browser.close())

/** The kinds of the changes that can be seen, each once. */
async function kindsShown(tab: Page): Promise<string[]> {
  const kinds = (await tab.evaluate(
    '[...document.querySelectorAll("tr[data-kind]")].filter((row) => row.checkVisibility()).map((row) => row.dataset.kind)',
  )) as string[]
  return [...new Set(kinds)].toSorted()
}

async function focus(tab: Page, id: string): Promise<void> {
  await tab.evaluate(`document.getElementById('${id}').focus()`)
}

describe('the filters of the audit page', () => {
  it('narrow the changes with the keyboard alone, one question after the other, and are set back', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      expect(await kindsShown(tab)).toEqual(['added', 'changed', 'removed'])
      await focus(tab, 'only-kind-all')
      await tab.keyboard.press('ArrowDown')
      expect(await kindsShown(tab)).toEqual(['added'])
      await focus(tab, 'only-person-all')
      await tab.keyboard.press('ArrowDown')
      expect(await tab.locator('.person:visible').count()).toBe(1)
      await focus(tab, 'only-attention-all')
      await tab.keyboard.press('ArrowDown')
      const rows = tab.locator('tr[data-kind]:visible')
      expect(await rows.count()).toBe(
        await tab.locator('[data-person=p1] tr[data-kind=added][data-attention~=some]').count(),
      )
      expect(await rows.count()).toBeGreaterThan(0)
      await tab.getByRole('button', { name: 'Show all' }).focus()
      await tab.keyboard.press('Enter')
      expect(await kindsShown(tab)).toEqual(['added', 'changed', 'removed'])
    })
  })

  it('say of each choice how many changes it shows', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      const choices = (await tab.evaluate(`[...document.querySelectorAll('.filters input')].map((input) => {
        input.click()
        const shown = [...document.querySelectorAll('tr[data-kind]')].filter((row) => row.checkVisibility()).length
        const said = Number(/\\d+$/.exec(input.labels[0].textContent.trim())?.[0])
        input.form.reset()
        return { id: input.id, said, shown }
      })`)) as { id: string; said: number; shown: number }[]
      expect(choices.length).toBeGreaterThan(12)
      expect(choices.filter(({ said, shown }) => said !== shown)).toEqual([])
    })
  })

  it('leave nothing out on paper, whatever is chosen', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      const all = await tab.locator('tr[data-kind]:visible').count()
      await tab.locator('#only-kind-added').check()
      expect(await tab.locator('tr[data-kind]:visible').count()).toBeLessThan(all)
      await onPaper(tab)
      expect(await tab.locator('tr[data-kind]:visible').count()).toBe(all)
    })
  })
})

it('the audit page leads from a change to its revision', async () => {
  await withPage(browser, { html }, async ({ tab }) => {
    const link = tab.locator('tr[data-kind] a[href^="#entry-"]').first()
    const target = await link.getAttribute('href')
    await link.press('Enter')
    // The page tells of its new address a moment later.
    await tab.waitForURL((url) => url.hash === target, { waitUntil: 'commit' })
    expect(await tab.locator(`tr${target}`).isVisible()).toBe(true)
  })
})

describe('the audit page of a quarter with 234 revisions, on paper', () => {
  let html: string
  beforeAll(async () => {
    html = await renderTrail(quarterOfRevisions(234))
  })
  const without = (tab: Page, ids: string[]) =>
    tab.evaluate(`for (const id of ${JSON.stringify(ids)}) document.getElementById(id).closest('section').remove()`)
  const annexes = ['revisions', 'full', 'checking']

  it('is ten pages and the annexes at most', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      expect((await printedPages(tab)).pages).toBeLessThanOrEqual(25)
      await without(tab, annexes)
      expect((await printedPages(tab)).pages).toBeLessThanOrEqual(10)
    })
  })

  it('has verdict, signatures and findings on the first page', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      await without(tab, ['attention', 'changes', 'settings', ...annexes])
      expect((await printedPages(tab)).pages).toBe(1)
      for (const id of ['signatures', 'findings']) expect(await tab.locator(`#${id}`).isVisible()).toBe(true)
    })
  })

  it('unfolds what paper has no other place for: the settings, and the annex of what is folded above', async () => {
    await withPage(browser, { html }, async ({ tab }) => {
      const shown = () =>
        tab.evaluate(
          '[".settings details li", ".annex tbody td"].map((each) => document.querySelector(each).checkVisibility({ contentVisibilityAuto: true }))',
        )
      expect(await shown()).toEqual([false, false])
      await onPaper(tab)
      expect(await shown()).toEqual([true, true])
    })
  })
})
