import { expect, it } from 'vitest'
import { commandLine } from '../../../lib/hooks/machine/command-line.ts'

it('names this Node and the command by their whole paths', () => {
  const process = { platform: 'linux', execPath: '/usr/bin/node' } as const
  expect(commandLine({ command: '/home/ana/hooks/hook.cjs' }, process)).toBe('/usr/bin/node /home/ana/hooks/hook.cjs')
})

it('quotes what a shell would read otherwise', () => {
  const process = { platform: 'darwin', execPath: '/opt/my node/node' } as const
  const line = "'/opt/my node/node' '/Users/ana/it'\\''s $HOME/hook.cjs'"
  expect(commandLine({ command: "/Users/ana/it's $HOME/hook.cjs" }, process)).toBe(line)
})

it('has no program in quotes on Windows, which PowerShell would take for a text', () => {
  const process = { platform: 'win32', execPath: 'C:\\Program Files\\nodejs\\node.exe' } as const
  const command = 'C:\\Users\\Ana B\\.platform-sync\\hooks\\hook.cjs'
  expect(commandLine({ command }, process)).toBe(`node "${command}"`)
})
