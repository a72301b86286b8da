import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RevisionDiff, readHistory } from '../../../lib/audit/changes/history.ts'
import { createWatch } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import { renderReport } from '../../../lib/audit/report/report.ts'
import { Finding } from '../../../lib/audit/trail/finding.ts'
import { entryRefsOf } from '../../../lib/audit/trail/revision-index.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import { auditParts, findingsIn, revision, scan, seen, signal, stored, testSigner } from '../memory.ts'

const hostile = `"><script>document.title='pwned'</script><img src=x onerror=alert(1)>&amp;`
const { redact } = createRedactor('k')
let page: string
let damaged: string
let keyId: string
let digestHash: string

beforeAll(async () => {
  const parts = auditParts()
  const revisions = [
    revision(1, {
      enableAgentShield: true,
      sandbox: { network: { allowAll: false } },
      restrictApiKeyCreationToManagers: true,
      apiKey: 'topsecret-1',
      note: hostile,
    }),
    revision(2, {
      enableAgentShield: false,
      sandbox: { network: { allowAll: true } },
      restrictApiKeyCreationToManagers: false,
      apiKey: 'topsecret-2',
      note: hostile,
      [hostile]: 'x'.repeat(400),
    }),
    { ...revision(4, { maxAutonomyLevel: 'high' }), user: { name: hostile, email: 'eve@x.example' } },
  ]
  const records = revisions.map((record) => seen(redact(record, { secretPaths: [] }) as ReturnType<typeof revision>))
  await parts.recorder.record(records, scan, signal)
  await parts.recorder.compare(new Set([1, 2, 4]), scan, signal)
  await parts.digester.write(signal)
  const render = async () => {
    const { heads } = (await parts.trail.recoverHead(signal)).state
    const diffs: RevisionDiff[] = []
    const refs = entryRefsOf(await parts.index.at(heads))
    const read = (at: number) => parts.trail.read('entries', at)
    for await (const diff of readHistory(read, refs, { watch: createWatch(watchRules) })) diffs.push(diff)
    return renderReport({
      writtenAt: '2026-01-06T08:00:00.000Z',
      verification: await verifyTrail(parts.store),
      trustedKeyIds: [await testSigner.keyId()],
      findings: findingsIn(parts.store.objects).map((finding) => Finding.parse(finding)),
      diffs,
    })
  }
  page = await render()
  keyId = await testSigner.keyId()
  digestHash = String(stored(parts.store.objects, 'digests')[0]?.hash)
  parts.store.objects.delete('audit/entries/0000000002.json')
  damaged = await render()
})

describe('the report', () => {
  it('shows what it must, and neither secrets nor fingerprints', () => {
    for (const text of [
      'complete and unaltered',
      'Without the shield',
      'eve@x.example',
      'revision 3',
      '[secret]',
      'node verify.mjs',
      `--key-id ${keyId} --expect ${digestHash}`,
    ]) {
      expect(page).toContain(text)
    }
    expect(page).not.toMatch(/topsecret|hmac-sha256:/)
  })

  it('says of a secret that another took its place, and nothing else', () => {
    expect(page).toMatch(/apiKey(?:<span[^<]*<\/span>)*<\/th><td>secret changed<\/td><td[^>]*><\/td><td[^>]*><\/td>/)
  })

  it('tells when a change that deserves attention was made', () => {
    const attention = page.slice(page.indexOf('id="attention"'), page.indexOf('id="timeline"'))
    expect(attention).toContain('<th scope="col">When</th>')
    expect(attention).toContain('<time datetime="2026-01-01T00:02:00.000Z">2026-01-01</time>')
  })

  it('lets long paths go on in the next line after a dot, and long names before a capital', () => {
    expect(page).toContain('sandbox.<wbr>network.<wbr>allowAll')
    expect(page).toContain('restrict<wbr>Api<wbr>Key<wbr>Creation<wbr>To<wbr>Managers')
  })

  it('lets no value become markup', () => {
    expect(page).not.toContain('<script')
    expect(page).not.toContain('<img')
    expect(page).toContain('&quot;&gt;&lt;script&gt;')
  })

  it('asks nothing of another place', () => {
    expect(page).not.toMatch(/(?:src|href)=["'](?!#)/)
    expect(page).not.toMatch(/url\(|@import/)
  })

  it('places each fault of the evidence', () => {
    expect(damaged).toContain('The evidence has 1 fault.')
    expect(damaged).toContain('audit/entries/0000000002.json')
    expect(damaged).not.toContain('complete and unaltered')
  })
})

const executablePath = '/usr/bin/chromium'
const present = existsSync(executablePath)
const dir = mkdtempSync(join(tmpdir(), 'audit-report-'))
let browser: Browser | undefined

beforeAll(async () => {
  writeFileSync(join(dir, 'report.html'), page)
  if (present) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
afterAll(async () => {
  await browser?.close()
  rmSync(dir, { recursive: true })
})

describe(
  present ? 'the report in Chromium' : 'the report in a browser (not looked at: there is no /usr/bin/chromium)',
  () => {
    const open = async (width: number, scheme: 'light' | 'dark' = 'light') => {
      if (!browser) return null
      const tab = await browser.newPage({ viewport: { width, height: 800 }, colorScheme: scheme })
      const troubles: string[] = []
      tab.on('pageerror', (error) => troubles.push(error.message))
      tab.on('console', (message) => troubles.push(message.text()))
      tab.on('request', (request) => {
        if (!request.url().startsWith('file:')) troubles.push(request.url())
      })
      await tab.goto(pathToFileURL(join(dir, 'report.html')).href)
      return { tab, troubles }
    }

    it.each([1280, 360])('fits a screen of %i pixels, without errors and without requests', async (width) => {
      const it = await open(width)
      if (!it) return expect(present).toBe(false)
      const { scroll, client } = (await it.tab.evaluate(
        '({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth })',
      )) as { scroll: number; client: number }
      expect(scroll).toBeLessThanOrEqual(client)
      expect(await it.tab.title()).toBe('Audit report: enterprise settings')
      expect(it.troubles).toEqual([])
      await it.tab.close()
    })

    it('is used with the keyboard alone: skip link, sections, and from a match to its revision', async () => {
      const it = await open(1280)
      if (!it) return expect(present).toBe(false)
      await it.tab.keyboard.press('Tab')
      const focused = () => it.tab.evaluate('document.activeElement.getAttribute("href")')
      expect(await focused()).toBe('#summary')
      for (let presses = 0; presses < 20 && !String(await focused()).startsWith('#entry-'); presses++) {
        await it.tab.keyboard.press('Tab')
      }
      await it.tab.keyboard.press('Enter')
      // The page tells of its new address a moment later.
      await it.tab.waitForURL(/#entry-\d+$/, { waitUntil: 'commit' })
      await it.tab.close()
    })

    it('has headings in order, one main part, named tables and a language', async () => {
      const it = await open(1280)
      if (!it) return expect(present).toBe(false)
      const levels = (await it.tab.evaluate(
        '[...document.querySelectorAll("h1,h2,h3")].map((h) => Number(h.tagName[1]))',
      )) as number[]
      expect(levels[0]).toBe(1)
      expect(levels.every((level, at) => at === 0 || level - (levels[at - 1] ?? 0) <= 1)).toBe(true)
      expect(await it.tab.locator('main').count()).toBe(1)
      expect(await it.tab.locator('table:not(:has(caption))').count()).toBe(0)
      expect(await it.tab.locator('html').getAttribute('lang')).toBe('en')
      await it.tab.close()
    })

    it.each(['light', 'dark'] as const)('has enough contrast in the %s', async (scheme) => {
      const it = await open(1280, scheme)
      if (!it) return expect(present).toBe(false)
      const low = await it.tab.evaluate(`(() => {
      const rgb = (text) => text.match(/[\\d.]+/g).map(Number)
      const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
      const back = (e) => { for (let at = e; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor); if (c.length < 4 || c[3] > 0) return c } return [255, 255, 255] }
      return [...document.querySelectorAll('body *')].filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())).flatMap((e) => {
        const [a, b] = [light(rgb(getComputedStyle(e).color)), light(back(e))].sort((x, y) => y - x)
        return (a + 0.05) / (b + 0.05) < 4.5 ? [e.outerHTML.slice(0, 80)] : []
      })
    })()`)
      expect(low).toEqual([])
      await it.tab.close()
    })

    it('prints all of it, without the navigation', async () => {
      const it = await open(1280)
      if (!it) return expect(present).toBe(false)
      await it.tab.emulateMedia({ media: 'print' })
      expect(await it.tab.locator('nav').isVisible()).toBe(false)
      expect(await it.tab.locator('ol.timeline > li').last().isVisible()).toBe(true)
      expect((await it.tab.pdf({ format: 'A4' })).length).toBeGreaterThan(5_000)
      await it.tab.close()
    })
  },
)
