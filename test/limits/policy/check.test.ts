import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { cliHere } from '../../cli/cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'platform-sync-policy-'))
const policy = join(folder, 'policy.yaml')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function check(text: string) {
  writeFileSync(policy, text)
  return cliHere(['limits', 'policy', 'check', policy])
}

it('needs nothing to be set up, and names each mistake with line and column', async () => {
  const { code, stdout } = await check('default: x\ngrups: []\n')
  expect(code).toBe(1)
  expect(stdout).toContain('policy.yaml:1:1: default is neither a whole number from 0 nor none\n')
  expect(stdout).toContain('policy.yaml:2:1: grups is no member that a policy has here\n')
})

it('says that nobody can be named where the users are not known', async () => {
  const { code, stderr } = await check('default: 500\n')
  expect([code, stderr]).toEqual([0, expect.stringContaining('The users are not known here')])
})

it('is wrong usage where there is no such file', async () => {
  expect((await cliHere(['limits', 'policy', 'check', `${policy}.gone`])).code).toBe(2)
})
