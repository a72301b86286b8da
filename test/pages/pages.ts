import { auditPage } from './audit-page.ts'
import { limitsPage } from './limits-page.ts'
import { nightPage } from './night-page.ts'

/** A page that is looked at in a browser. */
export type PageUnderTest = {
  /** Names the page in tests, and its picture in docs/pictures. */
  name: string
  title: string
  /** The page with data as they are. */
  usual(): Promise<string>
  /** The page in which every text that somebody else wrote is `hostile`. */
  hostile(text: string): Promise<string>
  /** The most pages of a print of the usual one, its annex included. */
  printedPages: number
}

/** All pages that the project writes. A page that is added here is held to everything in every-page.test.ts. */
export const pages: readonly PageUnderTest[] = [auditPage, limitsPage, nightPage]

/** Texts that break pages: markup, words without an end, and text that runs from right to left or turns its neighbours. */
export const hostileTexts = {
  markup: `"><script>document.title='pwned'</script><img src=x onerror=alert(1)>&amp;</style><style>*{display:none}`,
  long: 'x'.repeat(10_000),
  rightToLeft: 'שלום \u202Eevil\u202C مرحبا بالعالم',
}
