import { beforeAll, describe, expect, it } from 'vitest'
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
