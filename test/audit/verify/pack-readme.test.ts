import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exportPack } from '../../../lib/audit/verify/pack.ts'
import { createTrailFolder } from '../../../lib/stores/trail-folder.ts'
import { auditParts, revisions, scan, signal, testSigner } from '../memory.ts'

const pack = mkdtempSync(join(tmpdir(), 'audit-readme-'))
let readme: string
let files: string[]
let digestHash: string

beforeAll(async () => {
  const parts = auditParts()
  for (const upTo of [2, 4]) {
    await parts.recorder.record(revisions(1, upTo), scan, signal)
    await parts.digester.write(signal)
  }
  await parts.recorder.compare(new Set([1, 2, 4]), scan, signal)
  await parts.digester.write(signal)
  const { heads } = (await parts.trail.recoverHead(signal)).state
  const extras = [{ path: 'report.html', bytes: Buffer.from('<!doctype html>') }]
  const { store: trail, clock } = parts
  await exportPack({ trail, out: createTrailFolder(pack), signer: testSigner, clock, heads, extras })
  readme = readFileSync(join(pack, 'README.txt'), 'utf8')
  files = readdirSync(pack, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(pack.length + 1))
  digestHash = heads.digests.hash
})
afterAll(() => rmSync(pack, { recursive: true }))

/** The files that the README names; of a row of numbers, each. */
function namedFiles(): string[] {
  const list = readme.split('WHAT IS IN THIS FOLDER\n')[1]?.split('\nHOW TO CHECK')[0] ?? ''
  return [...list.matchAll(/^(\S+)(?: to (\S+))?$/gm)].flatMap(([, first = '', last]) => {
    if (last === undefined) return [first]
    const [from, to] = [first, last].map((name) => Number(/\d{10}/.exec(name)?.[0])) as [number, number]
    return Array.from({ length: to - from + 1 }, (_, i) => first.replace(/\d{10}/, String(from + i).padStart(10, '0')))
  })
}

it('names every file of the pack, and no file that is not there', () => {
  expect(files.length).toBeGreaterThan(12)
  expect(namedFiles().toSorted()).toEqual(files.toSorted())
})

it('has steps that work as they stand, with what somebody else told', async () => {
  const [, command = ''] = /^ +node (verify\.mjs .*KEY.*HASH)$/m.exec(readme) ?? []
  const told: Record<string, string> = { KEY: await testSigner.keyId(), HASH: digestHash }
  const [program = '', ...args] = command.replace(/KEY|HASH/g, (name) => told[name] ?? '').split(' ')
  const output = execFileSync(process.execPath, [program, ...args], { cwd: pack, encoding: 'utf8' })
  const [, lastLine = ''] = /it is, word for word:\n\n +(.*)\n/.exec(readme) ?? []
  expect(output.trimEnd().split('\n').at(-1)).toBe(lastLine)
})

it('does not say which key and which digest are right: whoever alters a pack alters that, too', async () => {
  const withoutNames = readme.replaceAll(/^audit\/keys\/.*$/gm, '')
  expect(withoutNames).not.toContain(await testSigner.keyId())
  expect(withoutNames).not.toContain(digestHash)
})
