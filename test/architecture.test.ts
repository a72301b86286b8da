import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('..', import.meta.url).pathname
function filesIn(...places: string[]) {
  return places
    .flatMap((place) => globSync(`${place}/**/*.ts`, { cwd: root }))
    .filter((file) => !file.endsWith('.d.ts'))
}
function read(file: string) {
  return readFileSync(join(root, file), 'utf8')
}

const sources = filesIn('lib', 'functions', 'infra')
const everything = [...sources, ...filesIn('test', 'bench'), ...globSync('*.ts', { cwd: root })]

/** What a file imports: paths from the root for our own files, names for packages. */
function importsOf(file: string): string[] {
  return [...read(file).matchAll(/(?:\bfrom\s+|\bimport\s*\(\s*|\bimport\s+)['"]([^'"]+)['"]/g)].map(
    ([, target = '']) => (target.startsWith('.') ? normalize(join(dirname(file), target)) : target),
  )
}

/** The part of the house that a file belongs to: `lib/sync`, `functions`. */
function partOf(file: string): string {
  const [top = '', second = ''] = file.split('/')
  return top === 'lib' ? `${top}/${second}` : top
}

/** From each part to the parts it may import, besides itself. */
const arrows: Record<string, string[]> = {
  'lib/core': [],
  'lib/platform': ['lib/core'],
  'lib/redaction': ['lib/core'],
  'lib/report': ['lib/core', 'lib/platform', 'lib/publish', 'lib/streams', 'lib/sync'],
  'lib/streams': ['lib/core', 'lib/platform'],
  'lib/sync': ['lib/core', 'lib/platform', 'lib/streams'],
  'lib/warehouse': ['lib/core', 'lib/streams'],
  'lib/publish': ['lib/core', 'lib/platform', 'lib/streams', 'lib/sync'],
  'lib/hooks': ['lib/core', 'lib/platform', 'lib/streams', 'lib/sync'],
  'lib/audit': ['lib/core', 'lib/platform', 'lib/redaction', 'lib/report', 'lib/streams', 'lib/sync'],
  'lib/limits': ['lib/core', 'lib/platform', 'lib/report', 'lib/streams', 'lib/sync'],
}
arrows['lib/erase'] = ['lib/core', 'lib/limits', 'lib/publish', 'lib/streams', 'lib/sync']
arrows['lib/stores'] = Object.keys(arrows)
arrows['lib/compose'] = Object.keys(arrows)
const inner = [...Object.keys(arrows)]
Object.assign(arrows, {
  'lib/local': [...inner, 'lib/cli'],
  'lib/cli': [...inner, 'lib/local'],
  functions: inner,
  infra: [...inner, 'functions'],
})

/** From each room of a part to the rooms beside it that it may import. Files outside of rooms may import all of them. */
const roomArrows: Record<string, string[]> = {
  'lib/limits/policy': ['lib/limits', 'lib/limits/intake'],
  'lib/limits/intake': ['lib/limits', 'lib/limits/outcomes'],
  'lib/limits/outcomes': ['lib/limits'],
  'lib/limits/report': ['lib/limits', 'lib/limits/outcomes'],
  'lib/report/night': ['lib/report'],
  'lib/report/pictures': ['lib/report'],
  'lib/audit/trail': [],
  'lib/audit/changes': ['lib/audit/trail'],
  'lib/audit/verify': ['lib/audit/trail'],
  'lib/audit/report': ['lib/audit/trail', 'lib/audit/changes', 'lib/audit/verify'],
}

/** Groups of files that lead to each other: its strongly connected components, by Tarjan's algorithm. */
function cyclesAmong(files: string[]): string[][] {
  const cycles: string[][] = []
  const order = new Map<string, number>()
  const open: string[] = []
  const visit = (file: string): number => {
    const own = order.size
    order.set(file, own)
    open.push(file)
    let lowest = own
    for (const target of importsOf(file).filter((each) => files.includes(each))) {
      if (!order.has(target)) lowest = Math.min(lowest, visit(target))
      else if (open.includes(target)) lowest = Math.min(lowest, order.get(target) ?? own)
    }
    if (lowest === own) {
      const group = open.splice(open.indexOf(file))
      if (group.length > 1) cycles.push(group.sort())
    }
    return lowest
  }
  for (const file of files) if (!order.has(file)) visit(file)
  return cycles
}

describe('the house', () => {
  it('is looked at', () => {
    expect(sources.length).toBeGreaterThan(80)
    expect(new Set(sources.map(partOf))).toContain('lib/sync')
    expect(importsOf('lib/sync/sync-stream.ts')).toContain('lib/sync/flusher.ts')
  })

  it('has imports that point one way', () => {
    const wrong = sources.flatMap((file) =>
      importsOf(file)
        .filter((target) => target.includes('/') && /^(lib|functions|infra|test|bench)\//.test(target))
        .filter((target) => partOf(target) !== partOf(file) && !arrows[partOf(file)]?.includes(partOf(target)))
        .map((target) => `${file} -> ${target}`),
    )
    expect(wrong).toEqual([])
  })

  it('has rooms whose imports point one way', () => {
    const roomOf = (file: string) => dirname(file)
    const wrong = sources
      .filter((file) => roomOf(file) in roomArrows)
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => partOf(target) === partOf(file) && roomOf(target) !== roomOf(file))
          .filter((target) => !roomArrows[roomOf(file)]?.includes(roomOf(target)))
          .map((target) => `${file} -> ${target}`),
      )
    expect(wrong).toEqual([])
    const rooms = new Set(sources.map(roomOf))
    expect(Object.keys(roomArrows).filter((room) => !rooms.has(room))).toEqual([])
  })

  it('finds no import cycle within a folder, type imports included', () => {
    expect(cyclesAmong(sources)).toEqual([])
  })

  it('has an entry for each of its parts', () => {
    expect(sources.map(partOf).filter((part) => !(part in arrows))).toEqual([])
  })

  it('keeps emulators and simulator out of what Lambda bundles', () => {
    const reached = new Set<string>()
    const visit = (file: string) => {
      if (reached.has(file)) return
      reached.add(file)
      for (const target of importsOf(file)) if (sources.includes(target)) visit(target)
    }
    for (const file of filesIn('functions', 'lib/compose')) visit(file)
    expect([...reached].filter((file) => /^lib\/(local|cli)\//.test(file))).toEqual([])
    const packages = new Set([...reached].flatMap(importsOf))
    for (const name of ['dynalite', 'fauxqs', '@duckdb/node-api', 'pg', 'pg-copy-streams', 'commander', 'cli-table3']) {
      expect(packages.has(name), name).toBe(false)
    }
  })

  it('knows AWS in stores, the emulators and functions alone', () => {
    const places = /^(lib\/(stores|local)\/|functions\/|infra\/)/
    const wrong = sources.filter(
      (file) => !places.test(file) && importsOf(file).some((name) => name.startsWith('@aws-')),
    )
    expect(wrong).toEqual([])
  })

  it('knows the types of Lambda in functions alone', () => {
    const wrong = sources.filter((file) => !file.startsWith('functions/') && importsOf(file).includes('aws-lambda'))
    expect(wrong).toEqual([])
  })

  it('asks for many things at a time in one place, which has a bound', () => {
    const unbound = /\bPromise\.(all|allSettled|any)\((?!\[)/
    expect(sources.filter((file) => unbound.test(read(file)))).toEqual(['lib/core/concurrency.ts'])
  })

  it('reads the environment of the process in one place', () => {
    const readers = sources.filter((file) => /\bprocess\.env\b|\bprocess\['env'\]/.test(read(file)))
    expect(readers).toEqual(['lib/core/env.ts'])
  })
})

describe('files', () => {
  it('have 250 lines at most', () => {
    const long = everything
      .map((file) => ({ file, lines: read(file).trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > 250)
    expect(long).toEqual([])
  })

  it('have a name that says what they are', () => {
    const vague = /(^|\/)(utils?|helpers?|common|misc|shared)(\.|\/|-)/
    expect(everything.filter((file) => vague.test(file))).toEqual([])
  })

  it('declare their functions, so that outlines and traces find them', () => {
    const arrowed = everything.filter((file) => /^(export )?const \w+ = (async )?(<[^>]*>)?\(/m.test(read(file)))
    expect(arrowed).toEqual([])
  })

  it('export by name', () => {
    const withDefault = everything.filter((file) => /^export default\b/m.test(read(file)))
    expect(withDefault.filter((file) => !/(^|\/)[\w-]+\.config\.ts$/.test(file))).toEqual([])
  })

  it('are no barrels, but for the list of streams and the public face of the package', () => {
    const barrels = sources.filter((file) => /^export (\*|\{[^}]*\}) from /m.test(read(file)))
    expect(barrels).toEqual(['lib/platform/public.ts'])
    expect(sources.filter((file) => file.endsWith('/index.ts'))).toEqual(['lib/streams/index.ts'])
  })
})

describe('tests that share a worker', () => {
  it('mock one client, not the class that all others use, and no module', () => {
    const shared = /\bmockClient\([A-Z]|\bvi\.(mock|doMock|stubGlobal)\(/
    expect(filesIn('test').filter((file) => shared.test(read(file)))).toEqual([])
  })
})
