import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const usualPath = '/usr/bin/chromium'

/** The browser of this machine: what CHROMIUM names, or where Linux has it; and what is missing, in words. */
export function findChromium(): { path: string; missing: string | null } {
  const path = process.env.CHROMIUM || usualPath
  return { path, missing: existsSync(path) ? null : `There is no ${path}; set CHROMIUM to the path of one.` }
}

/** Starts the browser. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium().path, args: ['--no-sandbox'] })
}

/** The ways in which somebody may look at a page. */
export type Look = { width?: number; scheme?: 'light' | 'dark' }

/** A page in a tab of its own, and all that went wrong there: scripts, policies, requests to any place. */
export type OpenPage = { tab: Page; troubles: string[] }

// No server listens here: the browser is given the page, and whatever else it asks for is a trouble.
const address = 'http://page.invalid/'

/** Opens a page that nobody serves, works with it, and closes it. */
export async function withPage<T>(
  browser: Browser,
  { html, width = 1200, scheme = 'light' }: Look & { html: string },
  work: (page: OpenPage) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
  try {
    const tab = await context.newPage()
    const troubles: string[] = []
    tab.on('pageerror', (error) => troubles.push(error.message))
    tab.on('console', (message) => troubles.push(message.text()))
    tab.on('dialog', (dialog) => {
      troubles.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    await context.route('**/*', async (route) => {
      if (route.request().url() === address) return route.fulfill({ contentType: 'text/html', body: html })
      troubles.push(route.request().url())
      return route.abort()
    })
    await tab.goto(address)
    return await work({ tab, troubles })
  } finally {
    await context.close()
  }
}

/** Shows a page as paper does. Its folds and tables take the new medium with the next frames, not at once. */
export async function onPaper(tab: Page): Promise<void> {
  await tab.emulateMedia({ media: 'print' })
  await tab.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
}
