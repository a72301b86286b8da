import { readdir, readFile } from 'node:fs/promises'
import { SourceMap } from 'node:module'
import { join, relative } from 'node:path'
import Table from 'cli-table3'

type Node = { id: number; callFrame: { functionName: string; url: string; lineNumber: number; columnNumber: number } }
type Profile = { nodes: Node[]; samples: number[]; timeDeltas: number[] }

const rows = 30

/** The CPU profiles of a folder as one table of self time by module, as the source map of the bundle names them. */
export async function tableOfProfiles(dir: string, bundle: string): Promise<string> {
  const map = new SourceMap(JSON.parse(await readFile(`${bundle}.map`, 'utf8')))
  const byModule = new Map<string, number>()
  for (const file of (await readdir(dir)).filter((name) => name.endsWith('.cpuprofile'))) {
    addProfile(byModule, JSON.parse(await readFile(join(dir, file), 'utf8')) as Profile, (node) =>
      moduleOf(node, bundle, map),
    )
  }
  const total = [...byModule.values()].reduce((sum, ms) => sum + ms, 0)
  const table = new Table({ head: ['module', 'self ms', '%'], style: { head: [], border: [] } })
  for (const [name, ms] of [...byModule].sort(([, a], [, b]) => b - a).slice(0, rows)) {
    table.push([name, ms.toFixed(0), ((ms / total) * 100).toFixed(1)])
  }
  return table.toString()
}

function addProfile(
  byModule: Map<string, number>,
  { nodes, samples, timeDeltas }: Profile,
  nameOf: (node: Node) => string,
) {
  const names = new Map(nodes.map((node) => [node.id, nameOf(node)]))
  samples.forEach((id, i) => {
    const name = names.get(id) as string
    if (name !== '(idle)') byModule.set(name, (byModule.get(name) ?? 0) + (timeDeltas[i] as number) / 1000)
  })
}

function moduleOf(
  { callFrame: { functionName, url, lineNumber, columnNumber } }: Node,
  bundle: string,
  map: SourceMap,
): string {
  if (url === '') return functionName.startsWith('(') ? functionName : `native: ${functionName}`
  if (!url.endsWith(bundle)) return url.split('/').slice(0, 2).join('/')
  const entry = map.findEntry(lineNumber, columnNumber)
  if (!('originalSource' in entry)) return 'bundle'
  const source = relative(process.cwd(), join(bundle, '..', entry.originalSource))
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? source
}
