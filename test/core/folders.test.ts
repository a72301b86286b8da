import { globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeFolder } from '../../lib/core/folders.ts'
import { temporaryFolder } from '../cli/cli.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())

describe('a folder', () => {
  it('is made with those above it, and says whether it was not there', () => {
    const path = join(folder.path, 'a', 'b', 'c')
    expect([makeFolder(path, 0o700), makeFolder(path)]).toEqual([true, false])
    expect([path, join(folder.path, 'a')].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o700])
  })

  it('may be a link to one', () => {
    mkdirSync(join(folder.path, 'real'))
    symlinkSync(join(folder.path, 'real'), join(folder.path, 'link'))
    expect([makeFolder(join(folder.path, 'link')), makeFolder(join(folder.path, 'link', 'in'))]).toEqual([false, true])
  })

  it('can not be a file, or lie below one', () => {
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    expect(() => makeFolder(file)).toThrow(/EEXIST/)
    expect(() => makeFolder(join(file, 'below'))).toThrow(/EEXIST|ENOTDIR/)
  })

  it('is made in this one way by all: the one of Node has no end in some places', () => {
    const makes = (file: string) => /mkdir(Sync)?\([^)]*recursive/.test(readFileSync(file, 'utf8'))
    expect([...globSync('lib/**/*.ts'), ...globSync('functions/*.ts')].filter(makes)).toEqual([])
  })
})
