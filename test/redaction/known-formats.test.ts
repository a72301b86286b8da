import { createRequire } from 'node:module'
import { rules } from '@secretlint/secretlint-rule-preset-recommend'
import { describe, expect, it } from 'vitest'
import { knownFormats } from '../../lib/redaction/known-formats.ts'

const packageName = '@secretlint/secretlint-rule-preset-recommend'
const { version } = createRequire(import.meta.url)(`${packageName}/package.json`) as { version: string }

/** What the redactor finds by its own means, in other forms: credentials in URLs, by name, in armour, of SendGrid. */
const foundOtherwise = ['basicauth', 'database-connection-string', 'filter-comments', 'privatekey', 'sendgrid']
const foundOtherwiseToo = /ACCOUNT|SECRET\|secret|:\\\/\\\//

/** A rule as far as it is needed here: given a text, it asks it for its patterns. */
type Rule = {
  meta: { id: string }
  create(context: object, options: object): { file?(source: { content: unknown }): void }
}

/** The patterns that a rule looks for, told by a text that only writes down what it is asked for. */
function patternsOf(rule: Rule): RegExp[] {
  const asked: RegExp[] = []
  const matchAll = (pattern: RegExp) => {
    asked.push(pattern)
    return []
  }
  const context = { createTranslator: () => () => ({}), report: () => {} }
  rule.create(context, { enableIDScanRule: true }).file?.({ content: { matchAll } })
  return asked.filter(({ source }) => !foundOtherwiseToo.test(source))
}

/** A pattern that can stand beside others in one expression, which says once that no letter may stand before it. */
function plain({ source }: RegExp): string {
  return source.replace(/^\(\?<!\\p\{L\}\)/, '').replace(/\(\?<[a-z]+>/gi, '(?:')
}

function moduleText(): string {
  const lines = (rules as unknown as Rule[])
    .map((rule) => ({ name: rule.meta.id.replace('@secretlint/secretlint-rule-', ''), patterns: patternsOf(rule) }))
    .filter(({ name, patterns }) => patterns.length > 0 && !foundOtherwise.includes(name))
    .flatMap(({ name, patterns }) => [`  // ${name}`, ...patterns.map((pattern) => `  /${plain(pattern)}/,`)])
  return [
    `// Derived from ${packageName} ${version} (MIT). \`vitest run test/redaction/known-formats.test.ts -u\` writes it.`,
    '',
    '/** The forms of credentials that vendors have published, as the rule set of secretlint keeps them. */',
    'export const knownFormats: readonly RegExp[] = [',
    ...lines,
    ']',
    '',
  ].join('\n')
}

describe('the known formats', () => {
  it('are those of the rule set that is installed', async () => {
    await expect(moduleText()).toMatchFileSnapshot('../../lib/redaction/known-formats.ts')
  })

  it('can stand beside each other in one expression', () => {
    expect(knownFormats.length).toBeGreaterThan(20)
    expect(knownFormats.filter(({ flags, source }) => flags !== '' || /\\p\{|\(\?<\w|\\\d/.test(source))).toEqual([])
  })
})
