import { describe, expect, it } from 'vitest'
import { parseJson } from '../../lib/core/json.ts'
import { deepText, isTooDeep } from '../../lib/core/nesting.ts'

describe('a record that is nested too deep for functions that call themselves', () => {
  it.each([
    ['deep', `{"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`],
    ['deep, and wide beside it', `{"wide":[${'1,'.repeat(300_000)}2],"deep":${'['.repeat(400)}${']'.repeat(400)}}`],
    ['deep, and wide below', `${'['.repeat(400)}${'{},'.repeat(300_000)}0${']'.repeat(400)}`],
  ])('keeps its text whole where it is %s', (_name, text) => {
    const record = parseJson(text)
    expect(isTooDeep(record)).toBe(true)
    expect(deepText(record, (part) => part).text === text).toBe(true)
  })
})
