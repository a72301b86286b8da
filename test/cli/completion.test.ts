import { execFile } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
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

describe(`a script (${shellsLeftOut()})`, () => {
  it('is there for each shell, and for no other', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect((await cliHere(['completion', shell])).stdout).toContain('complete -- ')
    }
    expect(await cliHere(['completion', 'csh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('zsh') })
  })

  itIn('bash')('completes a line in bash', async () => {
    const ask = (words: readonly string[], at: string) => [
      `source ${at}/completion.bash`,
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})`,
      `COMP_CWORD=${words.length - 1}`,
      '_platform_sync platform-sync',
      'echo "$' + '{COMPREPLY[@]}"',
    ]
    expect(await completed('bash', ['sync', 'read'], ask)).toEqual(['readiness_reports'])
  })

  itIn('zsh')('completes a line in zsh, sourced and from $fpath', async () => {
    const around = (words: readonly string[], load: string) => [
      'compdef() { compdef=$1 }',
      '_describe() { print -rl -- "$' + '{(@P)2}" }',
      '_files() { print files }',
      `words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length}`,
      load,
    ]
    const sourced = (words: readonly string[], at: string) => around(words, `source ${at}/completion.zsh; $compdef`)
    const found = (words: readonly string[], at: string) =>
      around(words, `fpath=(${at} $fpath); autoload -Uz _platform-sync; _platform-sync`)
    for (const ask of [sourced, found]) {
      expect(await completed('zsh', ['sync', 'read'], ask)).toEqual([expect.stringMatching(/^readiness_reports:./)])
      expect(await completed('zsh', ['limits', 'plan', 'li'], ask)).toEqual(['files'])
    }
  })

  itIn('fish')('completes a line in fish', async () => {
    const ask = (words: readonly string[], at: string) => [
      `cd ${at}; source completion.fish; complete -C '${words.join(' ')}'`,
    ]
    expect(await completed('fish', ['sync', 'read'], ask)).toEqual([expect.stringMatching(/^readiness_reports\t./)])
    expect(await completed('fish', ['sync', 'comp'], ask)).toEqual([expect.stringMatching(/^computers\t./)])
    expect(await completed('fish', ['limits', 'plan', 'comp'], ask)).toContain('completion.fish')
  })
})

type Shell = 'bash' | 'zsh' | 'fish'

/** A test in a shell, where the machine has it; what is left out stands in the title of all of them. */
function itIn(shell: Shell): typeof it | ((title: string, test: () => Promise<void>) => void) {
  return findShell(shell) ? it : () => {}
}

function shellsLeftOut(): string {
  const missing = (['bash', 'zsh', 'fish'] as const).filter((shell) => !findShell(shell))
  return missing.length === 0
    ? 'tried in all shells'
    : `not tried in ${missing.join(' and ')}, since they are not on this machine`
}

function findShell(shell: Shell): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return folders.map((folder) => join(folder, shell)).find((path) => existsSync(path))
}

/** What a shell offers, by lines that ask its script; the script is there under both names that it may have. */
async function completed(shell: Shell, words: string[], ask: (words: readonly string[], at: string) => string[]) {
  const folder = temporaryFolder()
  const { stdout: script } = await cliHere(['completion', shell])
  for (const name of [`completion.${shell}`, '_platform-sync']) writeFileSync(join(folder.path, name), script)
  const main = fileURLToPath(new URL('../../lib/cli/main.ts', import.meta.url))
  const command = join(folder.path, 'platform-sync')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, { mode: 0o755 })
  const env = { ...process.env, HOME: folder.path, PATH: `${folder.path}${delimiter}${process.env.PATH}` }
  const lines = ask(['platform-sync', ...words], folder.path).join('\n')
  const { stdout } = await promisify(execFile)(findShell(shell)!, [...quiet[shell], '-c', lines], { env })
  folder.remove()
  return stdout.split('\n').filter((line) => line !== '')
}

/** Without what a person's own files set. */
const quiet: Record<Shell, string[]> = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] }
