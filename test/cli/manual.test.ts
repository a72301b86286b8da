import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { Config } from '../../infra/config.ts'
import { cliHere } from './cli.ts'

const root = new URL('../..', import.meta.url).pathname
const commandsPage = readFileSync(`${root}/docs/commands.md`, 'utf8')
const configurationPage = readFileSync(`${root}/docs/configuration.md`, 'utf8')

const common = ['--json', '--verbose', '--local', '--help']

/** The cells of the rows of a page's tables, as the code spans in them. */
function rowsOf(page: string): string[][][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ').map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)))
}

/** A command without its arguments, an option without its value. */
function nameOf(span: string): string {
  return span.replace(/ [<[].*$/, '')
}

/** What --help lists under a title. */
async function listed(path: string[], title: string): Promise<string[]> {
  const { stdout } = await cliHere([...path, '--help'])
  const section = stdout.split(`\n${title}:\n`)[1]?.split('\n\n')[0] ?? ''
  return [...section.matchAll(/^ {2}(?:-\w, )?((?:--)?[a-z][a-z-]*)/gm)].map(([, name = '']) => name)
}

/** All commands with the options that are theirs alone. */
async function helped(path: string[] = []): Promise<Map<string, string[]>> {
  const names = (await listed(path, 'Commands')).filter((name) => name !== 'help')
  if (names.length === 0) {
    const options = await listed(path, 'Options')
    return new Map([[path.join(' '), options.filter((option) => !common.includes(option)).toSorted()]])
  }
  return new Map((await Promise.all(names.map((name) => helped([...path, name])))).flatMap((found) => [...found]))
}

describe('docs/commands.md', () => {
  it('has every command with every option, and no other', async () => {
    const rows = rowsOf(commandsPage)
    const documented = new Map<string, string[]>()
    for (const [first = []] of rows) {
      for (const name of first.map(nameOf)) if (!name.startsWith('--')) documented.set(name, [])
    }
    for (const [first = [], of = []] of rows.filter((cells) => cells.length === 3)) {
      for (const command of of)
        documented.set(command, [...(documented.get(command) ?? []), ...first.map(nameOf)].toSorted())
    }
    const byName = (some: Map<string, string[]>) => Object.fromEntries([...some].toSorted())
    expect(byName(documented)).toEqual(byName(await helped()))
  })

  it('has the options that all commands share', () => {
    const rows = rowsOf(commandsPage).filter((cells) => cells.length === 2)
    const options = rows.flatMap(([first = []]) => first.map(nameOf)).filter((name) => name.startsWith('--'))
    expect(options.toSorted()).toEqual([...common, '--version'].toSorted())
  })
})

describe('docs/configuration.md', () => {
  const documented = rowsOf(configurationPage).flatMap(([first = []]) => first)

  it('has every variable that is read, and no other', () => {
    // The scripts of shells have variables of the shell.
    const ours = globSync('lib/{compose,cli}/*.ts', { cwd: root }).filter((file) => !file.endsWith('-scripts.ts'))
    const files = ['lib/core/env.ts', ...ours]
    const read = files.flatMap((file) =>
      [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/(?<!Number\.)\b([A-Z]+(?:_[A-Z]+)+)\b/g)].map(
        ([, name = '']) => name,
      ),
    )
    // These are read by the runtime and by the AWS SDK.
    const elsewhere = ['HTTPS_PROXY', 'HTTP_PROXY']
    const variables = documented.filter((name) => /^[A-Z_]+$/.test(name))
    expect(variables.toSorted()).toEqual([...new Set([...read, ...elsewhere])].toSorted())
  })

  it('has every value of config.ts, and no other', () => {
    const schema = z.toJSONSchema(Config, { io: 'input' }) as Schema
    expect(documented.filter((name) => /^[a-z]/.test(name)).toSorted()).toEqual(leavesOf(schema).toSorted())
  })
})

type Schema = { properties?: Record<string, Schema>; additionalProperties?: Schema | false }

/** The names of a schema's values. A map of objects counts by itself, and its values under `*`. */
function leavesOf({ properties = {} }: Schema, path = ''): string[] {
  return Object.entries(properties).flatMap(([name, value]) => {
    const at = `${path}${name}`
    if (value.properties) return leavesOf(value, `${at}.`)
    return value.additionalProperties ? [at, ...leavesOf(value.additionalProperties, `${at}.*.`)] : [at]
  })
}
