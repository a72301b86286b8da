import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { cliHere, temporaryFolder } from './cli.ts'

/** What a shell offers for a line, its last word the one at the cursor. */
async function offered(...words: string[]) {
  const { code, stdout } = await cliHere(['complete', '--', ...words])
  expect(code).not.toBe(2)
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]]))
}

describe('a completion', () => {
  it('knows commands, also those in groups, and none that is hidden', async () => {
    expect(await offered('sy')).toEqual(['sync'])
    expect(await offered('limits', 'policy', '')).toEqual(['check', 'plan', 'apply', 'help'])
    expect(await offered('compl')).toEqual(['completion'])
  })

  it('knows the options of the command, and the values of some', async () => {
    expect(await offered('sync', '--s')).toEqual(['--skip-days'])
    expect(await offered('query', '--local', '--format', 're')).toEqual(['record'])
    expect(await offered('query', '--columns', 'organization_users')).toEqual([
      'organization_users',
      'organization_users_current',
    ])
  })

  it('knows streams and tables by name, one after the other', async () => {
    expect(await offered('sync', 'sessions', 'comp')).toEqual(['computers'])
    expect(await offered('approve', 'sessions', '')).toEqual([])
    expect(await offered('warehouse', 'ddl', 'sessions')).toEqual(['sessions'])
  })

  it('leaves files to the shell', async () => {
    expect(await offered('limits', 'plan', '')).toEqual([])
    expect(await offered('limits', 'report', '--out', '')).toEqual([])
  })
})

describe('a script', () => {
  it('is there for each shell, and for no other', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect((await cliHere(['completion', shell])).stdout).toContain('complete -- ')
    }
    expect(await cliHere(['completion', 'csh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('zsh') })
  })

  const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path))
  it.runIf(bash !== undefined)('completes a line in bash, where there is one', async () => {
    const folder = temporaryFolder()
    const script = join(folder.path, 'completion.bash')
    writeFileSync(script, (await cliHere(['completion', 'bash'])).stdout)
    const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))
    const lines = [
      `platform-sync() { "${process.execPath}" "${main}" "$@"; }`,
      `source "${script}"`,
      'COMP_WORDS=(platform-sync sync read)',
      'COMP_CWORD=2',
      '_platform_sync platform-sync',
      'echo "$' + '{COMPREPLY[@]}"',
    ]
    const { stdout } = await promisify(execFile)(bash as string, ['-c', lines.join('\n')])
    expect(stdout).toBe('readiness_reports\n')
    folder.remove()
  })
})
