import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addEntries, findEntries, type HookEntry, removeEntries } from '../../../lib/hooks/machine/settings-edit.ts'

const entry: HookEntry = { type: 'command', command: '/bin/node /home/me/hook.cjs', timeout: 10 }
function isOurs(command: string): boolean {
  return command.endsWith('hook.cjs')
}
const names = ['Notification', 'Stop', 'SubagentStop', 'SessionEnd']

const space = fc.stringMatching(/^[ \t]{0,3}(\r?\n[ \t]{0,4})?$/)
/** Writes a value as JSON with white space as it comes. */
function written(value: fc.JsonValue, spaces: fc.GeneratorValue): string {
  const gap = () => spaces(() => space)
  if (Array.isArray(value)) return `[${gap()}${value.map((each) => written(each, spaces) + gap()).join(`,${gap()}`)}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, each]) => `${JSON.stringify(name)}${gap()}:${gap()}${written(each as fc.JsonValue, spaces)}${gap()}`,
  )
  return `{${gap()}${members.join(`,${gap()}`)}}`
}

const foreignGroup = fc.record(
  { matcher: fc.string(), hooks: fc.array(fc.record({ type: fc.constant('command'), command: fc.string() })) },
  { requiredKeys: ['hooks'] },
)
const foreignHooks = fc.dictionary(fc.constantFrom(...names, 'Other'), fc.array(foreignGroup), { maxKeys: 3 })
const members = fc.dictionary(
  fc.string().filter((name) => name !== 'hooks' && name !== '__proto__'),
  fc.jsonValue({ maxDepth: 2 }),
)
const settings = fc
  .tuple(members, fc.option(foreignHooks), fc.boolean())
  .map(([more, hooks, first]) => (hooks === null ? more : first ? { hooks, ...more } : { ...more, hooks }))
const events = fc.shuffledSubarray(names, { minLength: 1 })

/** Tells whether a text is another one with pieces left out. */
function isWithin(text: string, longer: string): boolean {
  let at = 0
  for (const character of longer) if (text.startsWith(character, at)) at += character.length
  return at === text.length
}

describe('entries in a settings file', () => {
  it('are added beside what is there: nothing is moved, and every reader sees both', () => {
    fc.assert(
      fc.property(settings, events, fc.gen(), (value, wanted, spaces) => {
        const text = written(value as fc.JsonValue, spaces)
        const edited = addEntries(text, wanted, entry)
        expect(isWithin(text, edited)).toBe(true)
        const before = JSON.parse(text)
        const expected = { ...before, hooks: { ...before.hooks } }
        for (const name of wanted) expected.hooks[name] = [...(expected.hooks[name] ?? []), { hooks: [entry] }]
        expect(JSON.parse(edited)).toEqual(expected)
        expect(new Set(findEntries(edited, isOurs).map(({ event }) => event))).toEqual(new Set(wanted))
      }),
    )
  })

  it('are taken out without a trace, when no place for hooks was empty before', () => {
    const filled = fc.dictionary(fc.constantFrom(...names), fc.array(foreignGroup, { minLength: 1 }), { minKeys: 1 })
    const full = fc
      .tuple(members, fc.option(filled))
      .map(([more, hooks]) => ({ a: 1, ...more, ...(hooks && { hooks }) }))
    fc.assert(
      fc.property(full, events, fc.gen(), (value, wanted, spaces) => {
        const text = written(value as fc.JsonValue, spaces)
        expect(removeEntries(addEntries(text, wanted, entry), isOurs)).toBe(text)
      }),
    )
  })

  it('leave what others wrote around them meanwhile', () => {
    const text = addEntries('{"a":1}', ['Stop'], entry)
    const value = JSON.parse(text)
    value.hooks.Stop[0].hooks.unshift({ type: 'command', command: 'theirs', timeout: 1 })
    value.hooks.Stop.push({ hooks: [{ type: 'command', command: 'other', timeout: 2 }] })
    value.b = 2
    expect(JSON.parse(removeEntries(JSON.stringify(value), isOurs))).toEqual({
      a: 1,
      b: 2,
      hooks: {
        Stop: [
          { hooks: [{ type: 'command', command: 'theirs', timeout: 1 }] },
          { hooks: [{ type: 'command', command: 'other', timeout: 2 }] },
        ],
      },
    })
  })

  it.each([
    ['{}\n', '\n  '],
    ['{\n\t"a": 1\n}\n', '\n\t'],
    ['{\r\n    "a": 1\r\n}\r\n', '\r\n    '],
  ])('follow the indentation of %j', (text, unit) => {
    const edited = addEntries(text, ['Stop'], entry)
    expect(edited).toContain(`${unit}"hooks": {`)
    expect(edited.replaceAll(unit.includes('\r') ? '\r\n' : '\n', '')).not.toMatch(/[\r\n]/)
    const [lineBreak = '', indentation] = [/\r?\n/.exec(unit)?.[0], unit.trimStart() || unit.replace(/\r?\n/, '')]
    const pretty = JSON.stringify(JSON.parse(edited), null, indentation).replaceAll('\n', lineBreak)
    expect(edited).toBe(`${pretty}${lineBreak}`)
  })

  it('stay on one line in a file of one line', () => {
    expect(addEntries('{"a":1}', ['Stop'], entry)).toBe(
      `{"a":1,"hooks":{"Stop":[{"hooks":[${JSON.stringify(entry)}]}]}}`,
    )
  })

  it('leave comments alone', () => {
    const text = '{\n  // mine\n  "a": 1 /* one */\n}\n'
    const edited = addEntries(text, names, entry)
    expect(isWithin(text, edited)).toBe(true)
    expect(removeEntries(edited, isOurs)).toBe(text)
  })

  it.each([
    ['', 'not valid JSON'],
    ['{', 'not valid JSON'],
    ['{"a":1,}', 'not valid JSON'],
    ['{"a":01}', 'not valid JSON'],
    ["{'a':1}", 'not valid JSON'],
    ['{"a":1} x', 'not valid JSON'],
    ['[]', 'no JSON object'],
    ['{"hooks":[]}', '"hooks" is no object'],
    ['{"hooks":{"Stop":{}}}', 'no list for Stop'],
    ['{"hooks":{},"hooks":{}}', '"hooks" twice'],
    ['{"hooks":{"Stop":[],"Stop":[]}}', '"Stop" twice'],
  ])('are not added to %j, and the reason is said: %s', (text, why) => {
    expect(() => addEntries(text, ['Stop'], entry)).toThrow(why)
    expect(() => removeEntries(text, isOurs)).toThrow('is left as it is')
  })
})
