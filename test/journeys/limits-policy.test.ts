import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Simulator, startSimulator } from '../../lib/local/simulator/simulator.ts'
import { cliHere, temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
const local = `--local=${folder.path}/data`
const policy = join(folder.path, 'policy.yaml')
let simulator: Simulator
let platform: Record<string, string>
beforeAll(async () => {
  simulator = await startSimulator({ counts: { users: 30 } })
  const { appUrl, baseUrl } = simulator
  platform = { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl, PLATFORM_API_KEY: 'sim-key' }
})
afterAll(async () => {
  await simulator.close()
  folder.remove()
})

function run(args: readonly string[]) {
  return cliHere([...args, local], platform)
}
function write(...lines: string[]) {
  writeFileSync(policy, lines.join('\n'))
}
const eng = 'groups: [{ name: eng, limit: 2000, members: { metadata: { field: department, equals: Engineering } } }]'

describe('a policy on the command line', () => {
  it('changes nothing before the users were read, or where there is none', async () => {
    write('default: 500', eng)
    const { code, stdout } = await run(['limits', 'policy', 'apply', policy])
    expect([code, stdout]).toEqual([1, expect.stringContaining('organization_users was never synced.')])
    const none = await run(['limits', 'policy', 'plan'])
    expect([none.code, none.stdout]).toEqual([2, expect.stringContaining('There is no policy')])
    expect(simulator.limits.size).toBe(0)
  })

  it('says who gets what, and why', async () => {
    expect((await run(['sync', 'organization_users'])).code).toBe(0)
    const { code, stdout } = await run(['limits', 'policy', 'check', policy])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^default +500 +\d+$/m)
    expect(stdout).toMatch(/^group eng +2000 +\d+$/m)
    const { document } = await planned()
    const engineer = document.changes.find(({ rule }: { rule: string }) => rule === 'group eng')
    const told = await run(['limits', 'policy', 'check', policy, '--explain', engineer.email.toUpperCase()])
    expect([told.code, told.stdout]).toEqual([
      0,
      expect.stringContaining('gets 2,000, by group eng (line 2): metadata.department.'),
    ])
    expect((await run(['limits', 'policy', 'check', policy, '--explain', 'no@x.io'])).code).toBe(1)
  })

  it('names all of whom two groups of one priority say different things', async () => {
    write(
      'default: 500',
      'groups:',
      ...[1, 2].map((n) => `  - { name: g${n}, limit: ${n}, members: { domains: [example.com] } }`),
    )
    const first = await run(['limits', 'policy', 'check', policy])
    expect([first.code, first.stdout]).toEqual([1, expect.stringContaining('and 10 more ("limits policy check --all"')])
    const { stdout } = await run(['limits', 'policy', 'check', policy, '--all'])
    expect(stdout.match(/ say different things$/gm)).toHaveLength(30)
    write('default: 500', eng)
  })

  async function planned() {
    const { stdout, code } = await run(['limits', 'policy', 'plan', policy, '--json'])
    return { code, document: JSON.parse(stdout) }
  }

  it('is applied within its guard, and then there is nothing to do', async () => {
    expect((await planned()).document.changes).toHaveLength(30)
    expect(simulator.limits.size).toBe(0)
    const applied = await run(['limits', 'policy', 'apply', policy])
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringMatching(/^applied +30$/m)])
    expect(new Set(simulator.limits.values())).toEqual(new Set([500, 2000]))
    expect(await run(['limits', 'policy', 'apply', policy])).toMatchObject({
      code: 0,
      stdout: 'Everybody has what the policy says.\n',
    })
    const puts = simulator.counts.setUserLimits ?? 0
    expect((await run(['limits', 'policy', 'apply', policy, '--all'])).code).toBe(0)
    expect(simulator.counts.setUserLimits).toBe(puts + 1)
  })

  it('waits outside of its guard until somebody approves, and an older plan is refused and made anew', async () => {
    write('default: 600', eng, 'guard: { changesPerNight: 1 }')
    const looked = await run(['limits', 'policy', 'plan', policy])
    expect(looked.stdout).toContain(
      `Nothing waits yet. This lets it wait for an approval: platform-sync limits policy apply ${policy}`,
    )
    const waiting = await run(['limits', 'policy', 'apply', policy])
    expect(waiting.code).toBe(3)
    const [, id = ''] = /limits approve ([0-9a-f]{16})/.exec(waiting.stdout) ?? []
    expect(waiting.stdout).toContain(`Approve it: platform-sync limits approve ${id} --policy ${policy}\n`)
    expect((await run(['limits', 'policy', 'plan', policy])).stdout).toContain(
      `limits approve ${id} --policy ${policy}\n`,
    )
    const nameless = await run(['limits', 'approve', id])
    expect([nameless.code, nameless.stdout]).toEqual([
      2,
      expect.stringMatching(/^Nothing was approved: .* --policy FILE\n$/),
    ])
    expect(waiting.stdout).toContain('outside of the guard It changes')
    write('default: 700', eng, 'guard: { changesPerNight: 1 }')
    const stale = await run(['limits', 'approve', id, '--policy', policy])
    expect([stale.code, stale.stdout]).toEqual([3, expect.stringContaining('The plan is older than what is known now')])
    const [, newer = ''] = /limits approve ([0-9a-f]{16})/.exec(stale.stdout) ?? []
    expect([...simulator.limits.values()]).not.toContain(600)
    expect((await run(['limits', 'approve', id, '--policy', policy])).stdout).toContain(
      `The newest is ${newer}, waiting.`,
    )
    const approved = await run(['limits', 'approve', newer, '--policy', policy])
    expect([approved.code, approved.stdout]).toEqual([0, expect.stringMatching(/^applied +\d+$/m)])
    expect(new Set(simulator.limits.values())).toEqual(new Set([700, 2000]))
  })

  it('leaves alone what was set by hand until the time that is named', async () => {
    const [email = ''] = [...simulator.limits.keys()]
    const file = join(folder.path, 'hand.csv')
    writeFileSync(file, `email,limit\n${email},9\n`)
    expect((await run(['limits', 'plan', file, '--until', 'soon'])).code).toBe(2)
    const { stdout } = await run(['limits', 'plan', file, '--until', '2999-01-01'])
    const [, id = ''] = /Plan ([0-9a-f]{16})/.exec(stdout) ?? []
    expect((await run(['limits', 'apply', id])).code).toBe(0)
    expect(await run(['limits', 'policy', 'apply', policy])).toMatchObject({
      code: 0,
      stdout: 'Everybody has what the policy says.\n',
    })
    expect(simulator.limits.get(email)).toBe(9)
  })
})
