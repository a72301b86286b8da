import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { policySchemaFile, policySchemaText } from '../../../lib/cli/docs.ts'
import { loadPolicy } from '../../../lib/limits/policy/load-policy.ts'
import { cliHere } from '../../cli/cli.ts'

const folder = new URL('../../../docs/policy/', import.meta.url)

it('docs/policy/policy.schema.json says what the form of a policy says', () => {
  const isFresh = readFileSync(policySchemaFile, 'utf8') === policySchemaText()
  expect(isFresh, 'docs/policy/policy.schema.json is out of date: run `npm run docs`').toBe(true)
})

it('the example is a policy without mistakes, and names its schema', async () => {
  const loaded = await loadPolicy({ read: (name) => readFile(new URL(name, folder)) })
  expect(loaded).toHaveProperty('rules')
  expect(readFileSync(new URL('policy.yaml', folder), 'utf8')).toContain('$schema=./policy.schema.json')
  const { code, stdout } = await cliHere(['limits', 'policy', 'check', 'docs/policy/policy.yaml'])
  expect([code, stdout]).toEqual([0, expect.stringContaining('has no mistakes in its text: version')])
})

it('docs/limits.md begins with that example', () => {
  const [, shown] = /```yaml\n(.*?)```/s.exec(readFileSync(new URL('../limits.md', folder), 'utf8')) ?? []
  expect(shown).toBe(readFileSync(new URL('policy.yaml', folder), 'utf8'))
})
