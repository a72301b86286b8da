import { describe, expect, it } from 'vitest'
import { readFacts } from '../../../lib/limits/report/facts.ts'
import { renderLimitsReport } from '../../../lib/limits/report/report.ts'
import { fakeClock } from '../../platform/fixture.ts'
import { at, intent, message, start, usePlatform, workerOn } from '../fixture.ts'

const platform = await usePlatform()
const hostile = `"><script>document.title='pwned'</script><img src=x onerror=alert(1)>&amp;`
const dayMs = 86_400_000
const waiting = [
  { id: 'abc', madeAt: '2026-05-06T01:00:00.000Z', changes: 1_234, reasons: ['The sum would be above 9.', hostile] },
]

type Worker = ReturnType<typeof workerOn>

async function facts({ reader }: Worker, now = start + 600_000, since = now - 3 * dayMs) {
  return await readFacts({ now, since, waiting }, reader)
}

/** The rows of a section, as their text. */
function rowsIn(page: string, id: string): string[] {
  const section = page.slice(page.indexOf(`<section aria-labelledby="${id}"`)).split('</section>')[0] ?? ''
  const body = section.split('<tbody>')[1] ?? ''
  return body
    .split('<tr>')
    .slice(1)
    .map((row) =>
      row
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    )
}

async function story({ clock } = platform) {
  const worker = workerOn({ api: platform.api, clock })
  const [ana, bob, cy] = platform.users as [string, string, string]
  await worker.apply([
    message(
      intent([
        { email: ana, limit: 100 },
        { email: bob, limit: 50, why: hostile },
      ]),
    ),
  ])
  const origin = {
    sourceKind: 'policy',
    planId: 'p1',
    policyVersion: 'v1',
    approvedBy: 'Dee',
    requestedAt: at(60),
  } as const
  const limits = [
    { email: ana, limit: 1_100, rule: 'override', why: 'moving', until: '2026-05-20' },
    { email: cy, limit: 7, until: '2026-12-31' },
    { email: 'nobody@x.io', limit: 5 },
  ]
  await worker.apply([message(intent(limits, { requestId: 'r2', ...origin }))])
  return { worker, ana, bob, cy }
}

describe('the report on limits', () => {
  it('tells who has what and why, what changed, ends soon, was refused and waits', async () => {
    const { worker, ana, bob, cy } = await story()
    const page = renderLimitsReport(await facts(worker))
    const people = rowsIn(page, 'people')
    expect(people.map((row) => row.split(' ')[0])).toEqual([ana, bob, cy].sort())
    expect(people).toContainEqual(
      expect.stringMatching(
        new RegExp(`^${ana} 1,100 .* 2026-05-20 policy v1, override: moving; plan p1, approved by Dee$`),
      ),
    )
    expect(rowsIn(page, 'ending').map((row) => row.split(' ')[0])).toEqual([ana])
    expect(rowsIn(page, 'refused')).toEqual([expect.stringMatching(/^nobody@x\.io .*rejected: /)])
    expect(rowsIn(page, 'changes')).toHaveLength(4)
    expect(rowsIn(page, 'changes')).toContainEqual(
      expect.stringMatching(new RegExp(`^${ana} \\S+ \\S+ 100 1,100 policy v1`)),
    )
    expect(rowsIn(page, 'waiting')).toEqual([
      expect.stringMatching(/^abc 2026-05-06 01:00 1,234 The sum would be above 9\./),
    ])
    expect(page).toContain('<dt>Sum of their limits</dt><dd>1,157</dd>')
  })

  it('shows the sum at the end of each day, back from what stands now', async () => {
    const clock = fakeClock()
    const { worker, ana } = await story({ ...platform, clock })
    const sums = async (now: number) => (await facts(worker, now)).sums.map(({ day, sum }) => `${day} ${sum}`)
    expect(await sums(start)).toEqual(['2026-05-03 0', '2026-05-04 0', '2026-05-05 0', '2026-05-06 1157'])
    await clock.sleep(2 * dayMs)
    await worker.apply([message(intent({ [ana]: 100 }, { requestId: 'r3', requestedAt: at(2 * 86_400) }))])
    expect(await sums(clock.now())).toEqual(['2026-05-05 0', '2026-05-06 1157', '2026-05-07 1157', '2026-05-08 157'])
  })

  it('says of how many it is not certain, and leaves them out', async () => {
    const worker = workerOn(platform)
    const [ana] = platform.users as [string]
    platform.simulator.fault({ kind: 'status', endpoint: 'setUserLimits', status: 503 })
    await worker.apply([message(intent({ [ana]: 5 }))])
    const { uncertain, people } = await facts(worker)
    expect([uncertain, people]).toEqual([1, []])
    expect(renderLimitsReport(await facts(worker))).toContain('Of 1 more addresses it is not certain')
  })

  it('lets no value become markup, and asks nothing of another place', async () => {
    const { worker } = await story()
    const page = renderLimitsReport(await facts(worker))
    expect(page).not.toMatch(/<script|<img/)
    expect(page).toContain('&lt;script&gt;')
    expect(page).not.toMatch(/(?:src|href)=["'](?!#)/)
    expect(page).not.toMatch(/url\(|@import|https?:/)
    expect(page).toContain("default-src 'none'")
  })

  it('is whole without any limit, and counts what a table leaves out', async () => {
    const worker = workerOn(platform)
    const empty = await facts(worker)
    expect(rowsIn(renderLimitsReport(empty), 'people')).toEqual([])
    const one = { address: 'a@x.io', identity: 'a@x.io', limit: 5, changedAt: at(0) }
    const many = Array.from({ length: 5_001 }, () => one) as never
    expect(renderLimitsReport({ ...empty, people: many })).toContain('1 more are left out here')
  })
})
