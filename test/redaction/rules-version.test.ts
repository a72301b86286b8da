import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { sha256 } from '../../lib/core/hash.ts'
import { rulesVersion } from '../../lib/redaction/rules-version.ts'

it('changes with each source of the redaction, so that what was read before is looked into once more', () => {
  const files = globSync('lib/redaction/**/*.ts').sort()
  const sources = files.filter((file) => !file.endsWith('rules-version.ts')).map((file) => readFileSync(file, 'utf8'))
  expect(sources.length).toBeGreaterThan(20)
  expect(rulesVersion).toBe(sha256(sources.join('\n')).slice(0, 16))
})
