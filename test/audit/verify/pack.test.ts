import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkPack, exportPack } from '../../../lib/audit/verify/pack.ts'
import { verifyTrail } from '../../../lib/audit/verify/verify.ts'
import { createTrailFolder } from '../../../lib/stores/trail-folder.ts'
import { auditParts, memoryObjects, otherForm, revisions, scan, signal, testClock, testSigner } from '../memory.ts'

const root = mkdtempSync(join(tmpdir(), 'audit-pack-'))
const pack = join(root, 'pack')
let files: string[]

async function headsOf({ head }: ReturnType<typeof auditParts>) {
  return (await head.read())!.state.heads
}
async function exported(parts: ReturnType<typeof auditParts>, dir: string) {
  return exportPack({
    trail: parts.store,
    out: createTrailFolder(dir),
    signer: testSigner,
    clock: testClock(),
    heads: await headsOf(parts),
    extras: [{ path: 'report.html', bytes: Buffer.from('<!doctype html>') }],
  })
}

beforeAll(async () => {
  const parts = auditParts()
  for (const upTo of [2, 4]) {
    await parts.recorder.record(revisions(1, upTo), scan, signal)
    await parts.digester.writeIfDue(signal)
  }
  await parts.recorder.compare(new Set([1, 2, 4]), scan, signal)
  await parts.digester.writeIfDue(signal)
  // Not vouched for yet: stays out of the pack.
  await parts.recorder.record(revisions(5, 5), scan, signal)
  await exported(parts, pack)
  files = readdirSync(pack, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(pack.length + 1))
})
afterAll(() => rmSync(root, { recursive: true }))

/** Runs the pack's own verifier as an auditor would: another folder, no project around it. */
function run(dir: string, ...args: string[]): { code: number; output: string } {
  try {
    return {
      code: 0,
      output: execFileSync(process.execPath, [join(dir, 'verify.mjs'), ...args], { cwd: tmpdir(), encoding: 'utf8' }),
    }
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string }
    return { code: status, output: `${stdout}${stderr}` }
  }
}
async function verifyHere(dir: string) {
  const store = createTrailFolder(dir)
  return [...((await checkPack(store, {}))?.faults ?? []), ...(await verifyTrail(store)).faults]
}
let copies = 0
function altered(change: (dir: string) => void): string {
  const dir = join(root, `copy-${++copies}`)
  cpSync(pack, dir, { recursive: true })
  change(dir)
  return dir
}

describe('an evidence pack', () => {
  it('verifies without the project, with the key that the auditor knows', async () => {
    const { code, output } = run(pack, '--key-id', await testSigner.keyId())
    expect(output).toContain('Checked 4 entries, 1 findings, 3 digests.')
    expect(output).toContain('complete and unaltered')
    expect(code).toBe(0)
    expect(await verifyHere(pack)).toEqual([])
  })

  it('has the digest that the auditor noted, and is told from an older one only by that', async () => {
    const id = await testSigner.keyId()
    const hashOf = (dir: string) => /Its hash is ([0-9a-f]{64})\./.exec(run(dir).output)?.[1] ?? ''
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 2), scan, signal)
    await parts.digester.write(signal)
    const older = join(root, 'older')
    await exported(parts, older)
    await parts.recorder.record(revisions(3, 3), scan, signal)
    parts.clock.at += 3_600_000
    await parts.digester.write(signal)
    const newer = join(root, 'newer')
    await exported(parts, newer)
    const [before, after] = [hashOf(older), hashOf(newer)]
    for (const [dir, hash, code] of [
      [newer, after, 0],
      [newer, before, 0],
      [older, before, 0],
      [older, after, 1],
    ] as const) {
      expect(run(dir, '--key-id', id, '--expect', hash)).toMatchObject({ code })
    }
    expect(run(older, '--expect', after).output).toContain(
      `FAULT audit/digests/: holds no digest with the hash ${after}`,
    )
    expect(run(older, '--as-of', '2026-01-05T01:00:00Z')).toEqual({
      code: 1,
      output: expect.stringContaining('FAULT audit/digests/0000000001.json: the newest digest is older'),
    })
    expect(run(newer, `--as-of=2026-01-05T01:00:00Z`, '--as-of', '2026-01-05')).toMatchObject({ code: 0 })
    expect(run(older).output).toContain('An older pack looks the same')
  })

  it('takes several keys, of which each may have signed', async () => {
    const keys = ['--key-id', 'f'.repeat(64), '--key-id', await testSigner.keyId()]
    expect(run(pack, ...keys)).toMatchObject({ code: 0 })
  })

  it('does not verify with a signature in its other form (AUD-08)', async () => {
    for (const file of ['manifest.sig', 'audit/digests/0000000002.sig']) {
      const dir = altered((dir) => {
        writeFileSync(join(dir, file), otherForm(readFileSync(join(dir, file))))
      })
      const { code, output } = run(dir)
      expect(output).toContain(`FAULT ${file}: is in another form than it was written in`)
      expect(code).toBe(1)
      expect(await verifyHere(dir)).toContainEqual(expect.objectContaining({ kind: 'altered', place: file }))
    }
  })

  it('has each fault at its own place', () => {
    const names = ['audit/entries/0000000002.json', 'audit/entries/0000000003.json']
    const places = (dir: string) => [...run(dir).output.matchAll(/^FAULT ([^:]+): /gm)].map(([, place = '']) => place)
    const exchanged = altered((dir) => {
      const [a, b] = names.map((name) => readFileSync(join(dir, name)))
      writeFileSync(join(dir, names[0] as string), b as Buffer)
      writeFileSync(join(dir, names[1] as string), a as Buffer)
    })
    expect(new Set(places(exchanged))).toEqual(new Set(names))
    const gone = altered((dir) => rmSync(join(dir, names[0] as string)))
    expect(new Set(places(gone))).toEqual(new Set([names[0]]))
    const replaced = altered((dir) =>
      cpSync(join(dir, 'audit/entries/0000000001.json'), join(dir, 'audit/findings/0000000001.json')),
    )
    expect(new Set(places(replaced))).toEqual(new Set(['audit/findings/0000000001.json']))
  })

  it('does not verify with another key', () => {
    const { code, output } = run(pack, '--key-id', 'f'.repeat(64))
    expect(output).toContain('not the one given')
    expect(code).toBe(1)
    expect(run(pack, `--key-id=${'f'.repeat(64)}`).code).toBe(1)
  })

  it.each([
    [['--key-id']],
    [['--key-id', 'abc']],
    [['--key-id=']],
    [['--keyid', 'f'.repeat(64)]],
    [['f'.repeat(64)]],
    [['--expect', 'abc']],
    [['--as-of', 'today']],
    [['--as-of', '2026-01-05T01:00:00']],
  ])('refuses %j, rather than pass over what it should check', (args) =>
    expect(run(pack, ...args)).toEqual({ code: 2, output: expect.stringContaining('Usage') }),
  )

  it('holds what the newest digest vouches for, the format, a verifier and the report', () => {
    expect(files.filter((file) => file.startsWith('audit/entries/'))).toHaveLength(4)
    expect(files).toEqual(
      expect.arrayContaining([
        'AUDIT-FORMAT.md',
        'manifest.json',
        'manifest.sig',
        'report.html',
        'verify.mjs',
        'audit/digests/0000000003.sig',
      ]),
    )
  })

  it('fails when any of its files is altered, and names the file', async () => {
    for (const file of files) {
      const dir = altered((dir) => {
        const bytes = readFileSync(join(dir, file))
        const at = bytes.length >> 1
        bytes[at] = file === 'verify.mjs' ? 0x20 : bytes[at]! ^ 1
        writeFileSync(join(dir, file), bytes)
      })
      const places = (await verifyHere(dir)).map(({ place }) => place)
      expect(places.join()).toContain(
        file === 'manifest.json' && places.includes('manifest.sig') ? 'manifest.sig' : file,
      )
      // An altered verifier proves nothing; this project's own finds it.
      if (file === 'verify.mjs') continue
      const { code, output } = run(dir)
      expect(output).toMatch(/FAULT|manifest/)
      expect(code).toBe(1)
    }
  })

  it('fails when a file is removed, added or exchanged', async () => {
    for (const file of files.filter((each) => each !== 'verify.mjs')) {
      const dir = altered((dir) => rmSync(join(dir, file)))
      expect(run(dir).code).toBe(1)
      expect(await verifyHere(dir)).not.toEqual([])
    }
    const added = altered((dir) => writeFileSync(join(dir, 'audit/entries/note.txt'), 'x'))
    expect(run(added).output).toContain('audit/entries/note.txt')
    expect(run(added).output).toContain('1 fault was found.')
    expect(await verifyHere(added)).not.toEqual([])
    const rolledBack = altered((dir) => {
      for (const it of [
        'entries/0000000003.json',
        'entries/0000000004.json',
        'digests/0000000003.json',
        'digests/0000000003.sig',
      ]) {
        rmSync(join(dir, 'audit', it))
      }
    })
    expect(run(rolledBack).code).toBe(1)
  })

  it('is a bare copy without a manifest, and then digests alone vouch for it', async () => {
    const dir = altered((dir) => {
      for (const file of ['manifest.json', 'manifest.sig']) rmSync(join(dir, file))
    })
    // The rest of a pack lies beside it: its list was taken away.
    const faults = [{ kind: 'missing', place: 'manifest.json' }]
    expect(await checkPack(createTrailFolder(dir), {})).toMatchObject({ faults })
    for (const file of ['verify.mjs', 'AUDIT-FORMAT.md']) rmSync(join(dir, file))
    expect(await checkPack(createTrailFolder(dir), {})).toBe(null)
    expect((await verifyTrail(createTrailFolder(dir))).faults).toEqual([])
  })

  it('can not be made before there is a digest, or when evidence is missing', async () => {
    const parts = auditParts()
    await parts.recorder.record(revisions(1, 3), scan, signal)
    await expect(exported(parts, join(root, 'none'))).rejects.toMatchObject({ code: 'not_found' })
    await parts.digester.write(signal)
    parts.store.objects.delete('audit/entries/0000000002.json')
    await expect(exported(parts, join(root, 'none'))).rejects.toThrow('0000000002')
    expect(memoryObjects().objects.size).toBe(0)
  })
})
