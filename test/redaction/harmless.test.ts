import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createRedactor } from '../../lib/redaction/redact.ts'
import { madeTexts, writtenTexts } from './harmless-texts.ts'

const { redact, redactText } = createRedactor('a key of the tests')
const allowedShare = 0.01

/** Draws that are the same each time: what is touched must not depend on luck. */
function draws(): (alphabet: string, length: number) => string {
  let state = 88_172_645
  return (alphabet, length) => {
    let text = ''
    for (let i = 0; i < length; i++) {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      text += alphabet[(state >>> 0) % alphabet.length]
    }
    return text
  }
}

describe('harmless texts', () => {
  const random = draws()
  const made = Object.values(madeTexts).flatMap((make) => Array.from({ length: 100 }, () => make(random)))

  it('that look made stay as they are, with one in a hundred touched at most', () => {
    const touched = made.filter((text) => redactText(text) !== text)
    expect(touched.length / made.length, touched.slice(0, 5).join('\n')).toBeLessThanOrEqual(allowedShare)
  })

  it('that people, programs and models write stay as they are', () => {
    expect(writtenTexts.length).toBeGreaterThan(140)
    expect(writtenTexts.filter((text) => redactText(text) !== text)).toEqual([])
  })

  it('stay as they are in the fields of a record', () => {
    for (const text of [...made, ...writtenTexts]) {
      const record = { title: text, report: { a: { rationale: text } }, list: ['a', text, 'b'], note: `${text} ` }
      if (redactText(text) === text) expect(redact(record, { secretPaths: [] })).toBe(record)
    }
  })

  it.each(['README.md', 'docs/audit.md', 'lib/sync/sync-stream.ts', 'lib/stores/lake.ts', 'CHANGELOG.md'])(
    'such as %s stay as they are, with one line in a hundred touched at most',
    (file) => {
      const lines = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').split('\n')
      const touched = lines.filter((line) => redactText(line) !== line)
      expect(touched.length / lines.length, touched.join('\n')).toBeLessThanOrEqual(allowedShare)
    },
  )
})

describe('numbers, switches and times under telling names', () => {
  it('stay readable, since they are no secret', () => {
    const record = {
      tokenTtlDays: 30,
      maxOutputTokens: 4096,
      token: 5,
      auth: true,
      apiKey: null,
      secretRotation: { every: 90, on: true, lastAt: '2024-05-01T00:00:00Z' },
      tokens: { expiresAt: '2024-05-01', ttl: '15m', enabled: 'true', count: 3 },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: people write them in settings.
      credentials: { method: 'basic', key: ['${OPENAI_API_KEY}', '{{ vault.key }}', '<your key>', '***'] },
      password: '',
      passwordPolicy: { minLength: 12, kind: 'strong' },
    }
    expect(redact(record, { secretPaths: [] })).toBe(record)
  })
})
