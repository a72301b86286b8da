import { beforeAll, describe, expect, it } from 'vitest'
import { shownValue } from '../../../lib/audit/changes/diff.ts'
import { daysFromTo, quarterOf } from '../../../lib/audit/report/period.ts'
import { renderReport } from '../../../lib/audit/report/report.ts'
import { countsText, verdictOf } from '../../../lib/audit/verify/verify.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import { auditParts, revision, scan, seen, signal, stored, testClock, testSigner } from '../memory.ts'
import { allTime, contentOf } from './content.ts'

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
  const render = async () => renderReport(await contentOf(parts))
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
      'not known',
      '[secret]',
      'node verify.mjs',
      `--key-id ${keyId} --expect ${digestHash}`,
    ]) {
      expect(page).toContain(text)
    }
    expect(page).not.toMatch(/topsecret|hmac-sha256:/)
  })

  it('says of a secret that another took its place, and nothing else', () => {
    const rows = sectionOf(page, 'changes').split('<tr ')
    expect(rows.find((row) => row.includes('>apiKey<') && row.includes('secret changed'))).toMatch(
      /<td class="before"[^>]*><\/td><td class="after"[^>]*><\/td>/,
    )
  })

  it('tells of a change that deserves attention how often it was made, and leads to its revisions', () => {
    const attention = sectionOf(page, 'attention')
    expect(attention).toMatch(/Without the shield.*?critical.*?<td[^>]*>1<\/td>\s*<td[^>]*><a href="#entry-2">2<\/a>/s)
    expect(page).toContain('<tr id="entry-2">')
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
    expect(damaged).toContain('Not verified: the evidence has 1 fault.')
    expect(damaged).toContain('audit/entries/0000000002.json')
    expect(damaged).not.toContain('complete and unaltered')
  })
})

/** A section of a page. */
function sectionOf(page: string, id: string): string {
  return page.slice(page.indexOf(`<section aria-labelledby="${id}"`)).split('</section>')[0] ?? ''
}

/** The row on a setting in the list of changes. */
function rowOf(page: string, path: string): string {
  const rows = sectionOf(page, 'changes').split('<tr ').slice(1)
  return rows.find((row) => row.includes(`<th scope="row">${path}<`)) ?? ''
}

/** Three revisions in two quarters, recorded and signed on the days that they were made. */
async function twoQuarters() {
  const clock = testClock(Date.UTC(2026, 5, 30, 23, 59))
  const parts = auditParts({ clock, promisedMs: null })
  const make = async (number: number, day: number, settings: Parameters<typeof revision>[1]) => {
    clock.at = day
    const record = { ...revision(number, settings), updatedAt: new Date(day).toISOString() }
    await parts.recorder.record([seen(record)], scan, signal)
    await parts.digester.write(signal)
  }
  const domains = Array.from({ length: 40 }, (_, i) => `host${i}.example.com`)
  await make(1, Date.UTC(2026, 5, 30, 23, 59), { commandAllowlist: domains, sessionRetentionDays: 30 })
  await make(2, Date.UTC(2026, 6, 1), {
    commandAllowlist: [...domains.slice(1), 'a.example', 'b.example', 'c.example'],
    sessionRetentionDays: 60,
  })
  await make(3, Date.UTC(2026, 9, 1), { commandAllowlist: [], sessionRetentionDays: 90 })
  return parts
}

describe('the report on a period', () => {
  it('has what was made from its first moment to its last, and the settings as they stood then', async () => {
    const parts = await twoQuarters()
    const page = renderReport(await contentOf(parts, quarterOf('2026Q3')!))
    expect(page).toContain('2026-07-01 to 2026-09-30')
    expect(sectionOf(page, 'revisions').match(/<tr id="entry-\d+"/g)).toEqual(['<tr id="entry-2"'])
    expect(sectionOf(page, 'settings')).toMatch(/sessionRetentionDays<\/th><td>60</)
    expect(sectionOf(page, 'summary')).toContain('2 revisions of other times are not in this report.')
    const days = renderReport(await contentOf(parts, daysFromTo(Date.UTC(2026, 5, 30), Date.UTC(2026, 5, 30))))
    expect(sectionOf(days, 'revisions').match(/<tr id="entry-\d+"/g)).toEqual(['<tr id="entry-1"'])
    expect(sectionOf(days, 'settings')).toMatch(/sessionRetentionDays<\/th><td>30</)
  })

  it('says what it can not know: no revision before its end, a period that is not over, a record that begins later', async () => {
    const parts = await twoQuarters()
    const before = renderReport(await contentOf(parts, daysFromTo(null, Date.UTC(2026, 0, 1))))
    expect(sectionOf(before, 'settings')).toContain('nothing is known of the settings then')
    expect(sectionOf(before, 'signatures')).toContain('The record begins on 2026-06-30.')
    const running = renderReport(await contentOf(parts, quarterOf('2026Q4')!))
    expect(sectionOf(running, 'signatures')).toContain('The period is not over')
  })

  it('makes one row of a list in which four of 43 items differ, and folds them', async () => {
    const page = renderReport(await contentOf(await twoQuarters(), quarterOf('2026Q3')!))
    expect(sectionOf(page, 'changes').match(/<tr data-kind/g)).toHaveLength(2)
    expect(rowOf(page, 'commandAllowlist')).toContain('+3 −1')
  })

  it('shows what verification and comparison say, and no other number', async () => {
    const content = await contentOf(await twoQuarters())
    const page = renderReport(content)
    expect(page).toContain(`Verified. ${verdictOf(content.verification)}`)
    expect(sectionOf(page, 'signatures')).toContain(countsText(content.verification))
    const full = sectionOf(page, 'full')
    const changes = content.history.diffs.flatMap(({ previous, changes }) => (previous ? changes : []))
    expect(changes.length).toBeGreaterThan(40)
    for (const { before, after } of changes) {
      for (const side of [before, after]) if (side !== undefined) expect(page).toContain(shownValue(side))
    }
    const folded = changes.filter(({ path, itemsAfter }) => path === 'commandAllowlist' && itemsAfter === 0)
    expect(full.match(/<th scope="row">commandAllowlist<\/th>/g)).toHaveLength(folded.length)
  })

  it('does not look verified before a signature vouches for all of it', async () => {
    const parts = auditParts()
    await parts.recorder.record([seen(revision(1))], scan, signal)
    expect(leadOf(renderReport(await contentOf(parts)))).toContain('Not verified: nothing is altered, but no signature')
    await parts.digester.write(signal)
    await parts.recorder.record([seen(revision(2))], scan, signal)
    const page = leadOf(renderReport(await contentOf(parts, allTime)))
    expect(page).toContain('Verified in part.')
    expect(page).toContain('No signature vouches for the last 1 entries.')
    expect(page).not.toContain('<p class="verdict">')
  })
})

/** What stands above the list of sections. */
function leadOf(page: string): string {
  return page.slice(page.indexOf('<header>'), page.indexOf('<nav'))
}
