import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Opens all that is folded, so that nothing hides from a check. */
export async function unfold(tab: Page): Promise<void> {
  await tab.evaluate('for (const each of document.querySelectorAll("details")) each.open = true')
}

/** What axe-core finds: contrast, landmarks, headings, names of controls. Each as its rule and the place. */
export async function accessibilityFaults(tab: Page): Promise<string[]> {
  await tab.evaluate(axe)
  return (await tab.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`)) as string[]
}

/** By how much the page is wider than the screen, and what makes it so; empty when it fits. */
export async function overflowAt(tab: Page, width: number): Promise<string[]> {
  await tab.setViewportSize({ width, height: 900 })
  return (await tab.evaluate(`(() => {
    const room = document.documentElement.clientWidth
    if (document.documentElement.scrollWidth <= room) return []
    return [...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > room + 1)
      .map((e) => '${width} px: ' + e.outerHTML.slice(0, 120)).slice(-3)
  })()`)) as string[]
}

/** The visible controls that the Tab key does not reach, and those that don't show that they have the focus. */
export async function keyboardFaults(tab: Page): Promise<string[]> {
  const count = (await tab.evaluate(`(() => {
    // Of a group of radio buttons, Tab reaches the chosen one, and arrows the others.
    const usable = (e) => e.closest('.skip') || e.type === 'radio' ? e.type !== 'radio' || e.checked : e.checkVisibility({ visibilityProperty: true })
    window.controls = [...document.querySelectorAll('a[href], summary, button, input, select, textarea, [tabindex]')].filter(usable)
    window.reached = new Map()
    return window.controls.length
  })()`)) as number
  for (let presses = 0; presses <= count; presses++) {
    await tab.keyboard.press('Tab')
    await tab.evaluate(`(() => {
      const at = document.activeElement
      const seen = [at, ...(at.labels ?? [])].some((e) => {
        const { outlineStyle, outlineWidth } = getComputedStyle(e)
        return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
      })
      if (window.controls.includes(at)) window.reached.set(at, seen)
    })()`)
  }
  return (await tab.evaluate(`window.controls.flatMap((e) =>
    window.reached.get(e) ? [] : [(window.reached.has(e) ? 'no visible focus: ' : 'not reached: ') + e.outerHTML.slice(0, 120)])`)) as string[]
}

/** What became more than text of what people wrote: elements that no page of ours has, or a title that changed. */
export async function markupFaults(tab: Page): Promise<string[]> {
  return (await tab.evaluate(
    '[...document.querySelectorAll("script, img, iframe, object, embed, link, base, form[action]")].map((e) => e.outerHTML.slice(0, 120))',
  )) as string[]
}

/** What a reader who doesn't see the page misses: the order of headings, the one main part, names of tables, the language. */
export async function structureFaults(tab: Page): Promise<string[]> {
  return (await tab.evaluate(`(() => {
    const all = (selector) => [...document.querySelectorAll(selector)]
    const headings = all('h1, h2, h3, h4')
    const levels = headings.map((h) => Number(h.tagName[1]))
    return [
      ...headings.filter((_, at) => levels[at] - (levels[at - 1] ?? 0) > 1).map((h) => 'a level is left out before ' + h.outerHTML.slice(0, 80)),
      ...all('table:not(:has(> caption))').map((table) => 'no caption: ' + table.outerHTML.slice(0, 80)),
      ...(all('main').length === 1 ? [] : ['not one main part']),
      ...(document.documentElement.lang === 'en' ? [] : ['no language']),
      ...all('a[href^="#"]').filter((a) => !document.getElementById(decodeURIComponent(a.hash.slice(1)))).map((a) => 'leads nowhere: ' + a.outerHTML.slice(0, 80)),
    ]
  })()`)) as string[]
}

/** The pages of a print to A4. */
export async function printedPages(tab: Page): Promise<{ pdf: Buffer; pages: number }> {
  const pdf = await tab.pdf({ preferCSSPageSize: true, format: 'A4' })
  return { pdf, pages: [...pdf.toString('latin1').matchAll(/\/Type\s*\/Page\b(?!s)/g)].length }
}
