import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { token } from '../hooks/machine/collector.ts'
import { cliHere, temporaryFolder } from './cli.ts'

let folder: ReturnType<typeof temporaryFolder>
let settings: string

beforeEach(() => {
  folder = temporaryFolder()
  settings = join(folder.path, 'settings.json')
  writeFileSync(join(folder.path, 'token'), token)
})
afterEach(() => folder.remove())

function hooks(...args: string[]) {
  return cliHere(['hooks', ...args], { HOOKS_FOLDER: join(folder.path, 'hooks') })
}
function install() {
  const where = ['--address', 'https://collector.example.com', '--token-file', join(folder.path, 'token')]
  return hooks('install', '--settings', settings, ...where)
}

describe('a settings file', () => {
  it('that is a link is made where the link points to, when there is none yet, and the link stays', async () => {
    const real = join(folder.path, 'real.json')
    symlinkSync('real.json', settings)
    await install()
    expect(readlinkSync(settings)).toBe('real.json')
    expect(JSON.parse(readFileSync(real, 'utf8')).hooks.Stop).toHaveLength(1)
    await hooks('uninstall')
    expect([existsSync(real), readlinkSync(settings)]).toEqual([false, 'real.json'])
  })

  it('that is a folder is refused with a sentence', async () => {
    mkdirSync(settings)
    expect(await install()).toMatchObject({ code: 2, stderr: expect.stringContaining("settings.json can't be read: ") })
  })
})
