import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EventText, eventOf } from '../../../lib/hooks/machine/event.ts'
import { createLock } from '../../../lib/hooks/machine/lock.ts'
import { createSpool, type Spool } from '../../../lib/hooks/machine/spool.ts'
import { temporaryFolder } from '../../cli/cli.ts'

let folder: ReturnType<typeof temporaryFolder>
let broken: string[]
let spool: Spool
const now = Date.parse('2026-05-06T10:00:00Z')

function event(unixMs = now, more = ''): EventText {
  const made = eventOf(JSON.stringify({ hook_event_name: 'Stop', more }), { unixMs, host: 'h' })
  if (typeof made === 'string') throw new Error(made)
  return made
}

beforeEach(() => {
  folder = temporaryFolder()
  broken = []
  spool = createSpool(join(folder.path, 'spool'), {
    limits: { events: 5, bytes: 2_000 },
    onBroken: (name) => void broken.push(name),
  })
})
afterEach(() => folder.remove())

describe('the spool', () => {
  it('lists what it keeps, the oldest first, and forgets what is removed', () => {
    const [late, early] = [event(now + 5), event(now)]
    expect([spool.add(late), spool.add(early)]).toEqual([true, true])
    expect(spool.list().map(({ id }) => id)).toEqual([early.id, late.id])
    expect(spool.list().map(spool.read)).toEqual([early.text, late.text])
    for (const each of spool.list()) spool.remove(each)
    expect(readdirSync(join(folder.path, 'spool'))).toEqual([])
  })

  it('is for its owner alone', () => {
    spool.add(event())
    const path = join(folder.path, 'spool')
    const [name = ''] = readdirSync(path)
    expect([statSync(path).mode & 0o777, statSync(join(path, name)).mode & 0o777]).toEqual([0o700, 0o600])
  })

  it('takes no more than its number of events', () => {
    expect([1, 2, 3, 4, 5, 6].map((ms) => spool.add(event(ms)))).toEqual([true, true, true, true, true, false])
    expect(spool.list()).toHaveLength(5)
  })

  it('takes no more than its bytes', () => {
    expect([spool.add(event(1, 'x'.repeat(900))), spool.add(event(2, 'x'.repeat(900)))]).toEqual([true, false])
    expect(spool.add(event(3))).toBe(true)
  })

  it('removes a file that is no event, and says so', () => {
    spool.add(event())
    const [kept] = spool.list()
    if (!kept) throw new Error('nothing is kept')
    truncateSync(join(folder.path, 'spool', kept.name), 20)
    expect([spool.read(kept), spool.list(), broken]).toEqual([null, [], [kept.name]])
  })

  it('leaves what a later version left as it is, also half way, and says so', () => {
    const path = join(folder.path, 'spool')
    spool.add(event(1))
    const { id } = event(2)
    const text = JSON.stringify({ version: 2, id, what: 'unheard of' })
    const names = [2, 3].map((ms) => `${String(ms).padStart(13, '0')}_${id}_${text.length}.json`)
    const temporary = [`${names[1]}.tmp`, 'named in another way.tmp']
    for (const name of [names[0]!, ...temporary]) {
      writeFileSync(join(path, name), text)
      utimesSync(join(path, name), now / 1000 - 120, now / 1000 - 120)
    }
    spool.sweep(now)
    expect(spool.list().map(spool.read)).toEqual([expect.any(String), null, null])
    expect(spool.refusal()).toMatch(/event 0000000000002_.* later version .*form 2.*Deploy that version again/)
    for (const name of [...names, 'named in another way.tmp']) expect(readFileSync(join(path, name), 'utf8')).toBe(text)
    expect(broken).toEqual([])
  })

  it('brings in whole events of processes that were killed before they renamed them, and no half ones', () => {
    const path = join(folder.path, 'spool')
    const [whole, half, young] = [event(1), event(2), event(3)]
    for (const each of [whole, half, young]) spool.add(each)
    for (const { name } of spool.list()) renameSync(join(path, name), join(path, `${name}.tmp`))
    const [first = '', second = ''] = readdirSync(path).sort()
    truncateSync(join(path, second), 30)
    // One was written before the clock was set back.
    utimesSync(join(path, first), now / 1000 + 120, now / 1000 + 120)
    utimesSync(join(path, second), now / 1000 - 120, now / 1000 - 120)
    utimesSync(join(path, readdirSync(path).sort()[2] ?? ''), now / 1000, now / 1000)
    spool.sweep(now)
    expect(spool.list().map(({ id }) => id)).toEqual([whole.id])
    expect(readdirSync(path)).toHaveLength(2)
  })
})

describe('the lock', () => {
  it('is for one at a time, and free when it is given back', () => {
    const file = join(folder.path, 'lock')
    const [a, b] = [createLock(file), createLock(file)]
    const release = a.take(Date.now())
    expect([b.take(Date.now()), b.isHeld(Date.now())]).toEqual([null, true])
    release?.()
    expect(existsSync(file)).toBe(false)
    expect(b.take(Date.now())).not.toBeNull()
  })

  it.each([
    ['of a process that is gone', '999999999', 0],
    ['that is older than a delivery lives', String(process.pid), 16 * 60],
    ['of a time that is still to come, since the clock was set back', String(process.pid), -16 * 60],
    ['whose process died before it wrote its number', '', 10],
  ])('is taken over when it is one %s', (_, text, ageSeconds) => {
    const file = join(folder.path, 'lock')
    writeFileSync(file, text)
    const since = Date.now() / 1000 - ageSeconds
    utimesSync(file, since, since)
    const lock = createLock(file)
    expect(lock.isHeld(Date.now())).toBe(false)
    expect(lock.take(Date.now())).not.toBeNull()
    expect(readdirSync(folder.path)).toEqual(['lock'])
  })
})
