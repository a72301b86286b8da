import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../..', import.meta.url).pathname

/** What a bundle of a file holds besides it: types are gone by then, all else that is imported stays. */
function importsOf(file: string): string[] {
  const code = readFileSync(join(root, file), 'utf8')
  const statements =
    /^(?:import|export)\s(?!type\b)(?:[^'"]*?\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm
  return [...code.matchAll(statements)].map(([, still, loaded = '']) => {
    const target = still ?? loaded
    return target.startsWith('.') ? normalize(join(dirname(file), target)) : target
  })
}

/** The files and packages that a function reaches. */
function reachOf(file: string): Set<string> {
  const reached = new Set<string>()
  const visit = (target: string) => {
    if (reached.has(target)) return
    reached.add(target)
    if (target.endsWith('.ts')) importsOf(target).forEach(visit)
  }
  visit(file)
  return reached
}

function roomsOf(reached: ReadonlySet<string>): string[] {
  const rooms = [...reached].flatMap((target) => target.match(/^lib\/([^/]+)\//)?.[1] ?? [])
  return [...new Set(rooms)].sort()
}

function clientsOf(reached: ReadonlySet<string>): string[] {
  return [...reached].flatMap((target) => target.match(/^@aws-sdk\/client-(.*)$/)?.[1] ?? []).sort()
}

/** For each function the folders of lib and the clients of AWS that it runs with. What it doesn't run is not in its bundle. */
const reaches: Record<string, { rooms: string[]; clients: string[] }> = {
  'apply-credit-limits': {
    rooms: ['compose', 'core', 'limits', 'platform', 'redaction', 'stores', 'streams'],
    clients: ['dynamodb', 'secrets-manager', 'sqs'],
  },
  'apply-credit-policy': {
    rooms: ['compose', 'core', 'limits', 'platform', 'stores', 'streams', 'sync'],
    clients: ['dynamodb', 's3', 'sqs'],
  },
  'audit-digest': {
    rooms: ['audit', 'compose', 'core', 'platform', 'redaction', 'stores', 'streams'],
    clients: ['dynamodb', 'kms', 's3'],
  },
  'collect-hook-events': {
    rooms: ['compose', 'core', 'hooks', 'stores'],
    clients: ['secrets-manager', 'sqs'],
  },
  'import-credit-limits': {
    rooms: ['compose', 'core', 'limits', 'platform', 'stores', 'streams'],
    clients: ['dynamodb', 's3', 'sqs'],
  },
  'publish-run': {
    rooms: ['compose', 'core', 'platform', 'publish', 'stores', 'streams', 'sync'],
    clients: ['dynamodb', 'eventbridge', 'glue', 's3'],
  },
  'store-hook-events': {
    rooms: ['compose', 'core', 'hooks', 'platform', 'redaction', 'stores', 'streams'],
    clients: ['dynamodb', 's3', 'secrets-manager'],
  },
  'sync-stream': {
    rooms: ['audit', 'compose', 'core', 'hooks', 'limits', 'platform', 'redaction', 'stores', 'streams', 'sync'],
    clients: ['dynamodb', 'kms', 's3', 'secrets-manager'],
  },
  'write-report': {
    rooms: ['compose', 'core', 'platform', 'publish', 'report', 'stores', 'streams', 'sync'],
    clients: ['dynamodb', 'glue', 's3'],
  },
}

describe('a function', () => {
  it('is listed here with what it reaches', () => {
    const handlers = globSync('functions/*.ts', { cwd: root }).filter((file) =>
      /^export async function handler\b/m.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(handlers.sort()).toEqual(Object.keys(reaches).map((name) => `functions/${name}.ts`))
  })

  it.each(Object.entries(reaches))('%s reaches what it runs, and no other folder or client', (name, expected) => {
    const reached = reachOf(`functions/${name}.ts`)
    expect({ rooms: roomsOf(reached), clients: clientsOf(reached) }).toEqual(expected)
  })

  it('that draws pictures is one: what syncs or publishes holds nothing to draw with', () => {
    const drawing = Object.keys(reaches).filter((name) => {
      const reached = reachOf(`functions/${name}.ts`)
      return reached.has('@observablehq/plot') || reached.has('linkedom')
    })
    expect(drawing).toEqual(['write-report'])
  })

  it.each([
    ...['audit-digest', 'collect-hook-events', 'import-credit-limits', 'publish-run', 'store-hook-events'],
    'write-report',
  ])('%s holds no client of the platform', (name) => {
    expect([...reachOf(`functions/${name}.ts`)]).not.toContain('lib/platform/client.ts')
  })
})
