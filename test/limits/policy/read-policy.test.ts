import { describe, expect, it } from 'vitest'
import { loadPolicy } from '../../../lib/limits/policy/load-policy.ts'
import { verdictOn } from '../../../lib/limits/policy/rules.ts'
import { faultsOf, folderOf, rulesOf, user } from './fixture.ts'

describe('a mistake in a policy', () => {
  it.each([
    ['default: 500\nDefault: 3', 'policy.yaml:2:1 Default is no member that a policy has here'],
    ['groups: []', 'policy.yaml:1:1 default is missing'],
    ['default: -1', 'policy.yaml:1:1 default is neither a whole number from 0 nor none'],
    ['default: 1e3.5', 'policy.yaml:1:1 default is neither a whole number from 0 nor none'],
    ['default: 1\ntimeZone: Mars/Base', 'policy.yaml:2:1 timeZone is no time zone like UTC or Europe/Berlin'],
    ['default: 1\ndefault: 2', 'policy.yaml:2:1 Map keys must be unique'],
    [
      'default: 1\nguard:\n  approval: maybe',
      'policy.yaml:3:3 guard.approval is none of never, always and { above: 50 }',
    ],
    ['default: 1\nguard: { raise: {} }', 'policy.yaml:2:10 guard.raise needs percent, absolute or both'],
    ['default: 1\nleavers: 0', 'policy.yaml:2:1 leavers is neither none nor like { set: 0, afterDays: 7 }'],
    ['default: &a 1\nreassert: *a', 'policy.yaml:2:11 an alias (*name) can not stand here; write the value out'],
    ['default: [', 'policy.yaml:1:11'],
    ['- 500', 'policy.yaml:1:1 the policy is no map of names and values'],
    ['', 'policy.yaml:1:1 default is missing'],
    ['default: 1e3', 'policy.yaml:1:10 1e3 is no number as people write it'],
    ['default: 1\nreassert: 0x10', 'policy.yaml:2:11 0x10 is no number as people write it'],
    ['default: 1.000', 'policy.yaml:1:10 1.000 is 1 here, and 1000 to others: write digits only'],
    ['default: 1\ngroups: none', 'policy.yaml:2:1 groups is no list: write [a, b], or each entry on its own line'],
  ])('is told with its line and column: %j', async (text, fault) => {
    expect((await faultsOf(text)).join('\n')).toContain(fault)
  })

  it.each([
    ['{ name: a, limit: 1, members: {} }', '4:26 groups[1].members names nobody'],
    ['{ name: a, limit: 1, members: { addresses: [ana] } }', '4:49 the e-mail address is malformed'],
    ['{ name: a, limit: 1, members: { metadata: { field: x } } }', 'needs one of equals, oneOf and present'],
    ['{ name: a, limit: 1, members: { domains: [a@b.io] } }', 'is no domain like example.com'],
    ['{ name: a, limit: 1, members: { list: ../x.csv } }', 'is no name of a CSV file beside the policy'],
    ['{ name: a, limit: 1, members: { list: gone.csv } }', 'there is no file gone.csv beside the policy'],
    ['{ name: a, limit: 1, members: { list: bad.csv } }', 'bad.csv:3:1 the e-mail address is malformed'],
    ['{ name: a, limit: 1, members: { list: other.csv } }', 'other.csv:1:1 its first line names no column email'],
    [
      '{ name: a, limit: 1, members: { list: twice.csv } }',
      'twice.csv:1:1 its first line names the column email twice',
    ],
    ['{ name: a, limit: 1, members: { list: large.csv } }', '4:37 large.csv is larger than 2097152 bytes'],
    ['{ name: a, limit: 1, members: { addresses: [] } }', '4:37 groups[1].members.addresses is empty: leave it out'],
  ])('in a group is told, too: %s', async (group, fault) => {
    const lists = {
      'bad.csv': 'email\nana@x.io\nbob\n',
      'other.csv': 'who\nana@x.io\n',
      'twice.csv': 'mail;e-mail\nana@x.io;bob@x.io\n',
      'large.csv': `email\n${'ana@x.io\n'.repeat(300_000)}`,
    }
    expect((await faultsOf(`default: 1\ngroups:\n  # two\n  - ${group}\n`, lists)).join('\n')).toContain(fault)
  })

  it.each([
    ['2026-02-29', '2026-03-01', 'from is no day of the calendar'],
    ['2026-03-02', '2026-03-01', 'until ends before it begins'],
    ['2026-02-01', '2026-02-01', 'line 3 overrides the same person on some of the same days'],
  ])('in an override from %s until %s is told', async (from, until, fault) => {
    const first = '  - { email: a@x.io, limit: 5, from: 2026-01-01, until: 2026-02-01, reason: r }'
    const text = `default: 1\noverrides:\n${first}\n  - { email: A@X.io, limit: 5, from: ${from}, until: ${until}, reason: r }`
    expect((await faultsOf(text)).join('\n')).toContain(fault)
  })

  it('comes with all others, in the order of the file', async () => {
    const faults = await faultsOf('timeZone: x\ndefault: y\nreassert: 0\n')
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'policy.yaml:1:1',
      'policy.yaml:2:1',
      'policy.yaml:3:1',
    ])
  })

  it.each(['['.repeat(3_000), '['.repeat(3_000) + ']'.repeat(3_000), '{a: '.repeat(3_000), '[\n'.repeat(3_000)])(
    'is one where a text is nested without end',
    async (deep) => {
      expect(await faultsOf(`default: ${deep}`)).toEqual(['policy.yaml:1:10 is nested deeper than any policy'])
    },
  )

  it('may be that it is no text', async () => {
    const loaded = await loadPolicy({ read: async () => Buffer.from([0xff, 0xfe, 0]) })
    expect(loaded).toMatchObject({ faults: [{ message: expect.stringContaining('is no UTF-8 text') }] })
  })
})

describe('a list of a policy', () => {
  const text = 'default: 1\ngroups: [{ name: a, limit: 2, members: { list: a.csv } }]'

  it.each([
    ['semicolons', 'name;email\r\nAna;Ana@x.io\r\n'],
    ['tabs', 'name\temail\nAna\tAna@x.io\n'],
    ["Excel's own first line", 'sep=;\nemail;name\nAna@x.io;Ana\n'],
    ['a byte order mark', '\ufeffemail\nAna@x.io\n'],
    ['a header in another spelling', '"E-Mail",Name\nAna@x.io,Ana\n'],
    ['a second column that may mean it, too', 'mail,email\n,Ana@x.io\n'],
  ])('is read with %s', async (_name, list) => {
    const [group] = (await rulesOf(text, { 'a.csv': list })).groups
    expect([...(group?.named ?? [])]).toEqual(['ana@x.io'])
  })

  it('is read in UTF-16, and told when its encoding is none that is read', async () => {
    const folder = (list: Buffer) => ({ read: async (name: string) => (name === 'a.csv' ? list : Buffer.from(text)) })
    const loaded = await loadPolicy(folder(Buffer.from('\ufeffemail\nana@x.io\n', 'utf16le')))
    expect(loaded).toMatchObject({ rules: { groups: [{ named: new Set(['ana@x.io']) }] } })
    const broken = await loadPolicy(folder(Buffer.from('email,name\nana@x.io,Zo\xeb\n', 'latin1')))
    expect(broken).toMatchObject({ faults: [{ message: expect.stringContaining('a.csv is no CSV that can be read') }] })
  })
})

describe('a domain of a policy', () => {
  it('is that of an address however its letters are composed', async () => {
    const rules = await rulesOf(
      'default: 1\ngroups: [{ name: a, limit: 2, members: { domains: ["Bu\u0308cher.example"] } }]',
    )
    expect(verdictOn(user('ana@b\u00fccher.example'), rules, '2026-05-01')).toMatchObject({ limit: 2, rule: 'group a' })
  })
})

describe('the version of a policy', () => {
  const text = 'default: 1\ngroups: [{ name: a, limit: 2, members: { list: a.csv } }]'
  it('changes with its text and with its lists, and with nothing else', async () => {
    const version = async (policy: string, list: string) => (await rulesOf(policy, { 'a.csv': list })).version
    const first = await version(text, 'email\nana@x.io\n')
    expect(first).toMatch(/^[0-9a-f]{12}$/)
    expect(await version(text, 'email\nana@x.io\n')).toBe(first)
    expect(await version(text, 'email\nbob@x.io\n')).not.toBe(first)
    expect(await version(`${text}\n`, 'email\nana@x.io\n')).not.toBe(first)
  })

  it('is nothing where there is no policy', async () => {
    expect(await loadPolicy(folderOf({}))).toBeNull()
  })
})
