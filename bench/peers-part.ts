import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cost } from './bare-loop.ts'
import { type Figure, median } from './figures.ts'
import { type Peer, peers } from './peers/peers.ts'
import { install, runScript } from './peers/python.ts'
import { bareOf, type How, noise } from './sync-parts.ts'
import { measureRound, onPlatform, type Place, type Round, type SyncName, syncs } from './syncs.ts'

const sessions = 100_000
const part = 'peers'

/** What each peer took for each sync, in the order of the peers. */
type PeersRound = Round & { peers: Record<SyncName, Cost>[] }

/** CPU of this project and of other tools over the same pages; nothing where Python or PyPI is not to be had. */
export async function againstPeers({ rounds, profile }: How): Promise<Figure[]> {
  const missing = install()
  if (missing !== null) {
    process.stderr.write(`The peers are LEFT OUT: ${missing}\n`)
    return []
  }
  const found = await onPlatform({ sessions, latencyMs: 0, isGzip: false }, async (place) => {
    const found: PeersRound[] = []
    for (let n = 0; n < rounds; n++)
      found.push(await roundIn({ ...place, dir: join(place.dir, `round-${n}`), profile }))
    return found
  })
  return [...noise(part, found), ...syncs.flatMap((name) => [own(found, name), ...besides(found, name)])]
}

async function roundIn(place: Place & { profile: boolean }): Promise<PeersRound> {
  const round = await measureRound(place)
  const costs: Record<SyncName, Cost>[] = []
  for (const peer of peers) costs.push(await measurePeer(peer, { ...place, updated: round.changed.counts.updated }))
  return { ...round, peers: costs }
}

/** @throws Error when a peer does not keep the rows that it should: what did not do the work must not be compared. */
async function measurePeer(peer: Peer, { dir, addresses, updated }: Place & { updated: number }) {
  const folder = join(dir, peer.name)
  await mkdir(folder)
  const expected = peer.adds === 'versions' ? [0, 0, updated] : [0, sessions, 2 * sessions]
  const sync = async (name: SyncName): Promise<Cost> => {
    const variables = { BASE_URL: addresses[name === 'changed' ? 1 : 0], FOLDER: folder }
    const cost = JSON.parse(await runScript('cost.py', { argument: peer.line, variables })) as Cost
    const rows = Number(await runScript('rows.py', { argument: peer.rows, variables }))
    const due = sessions + (expected[syncs.indexOf(name)] as number)
    if (rows !== due) throw new Error(`${peer.name} keeps ${rows} rows after the ${name} sync, and should keep ${due}`)
    process.stderr.write(`${peer.name}, ${name}: ${cost.cpuSeconds.toFixed(1)} s of CPU\n`)
    return cost
  }
  return { first: await sync('first'), unchanged: await sync('unchanged'), changed: await sync('changed') }
}

function own(rounds: readonly PeersRound[], name: SyncName): Figure {
  return againstBare(rounds, { name, who: 'ours', costOf: (round) => round[name] })
}

function besides(rounds: readonly PeersRound[], name: SyncName): Figure[] {
  return peers.flatMap((peer, at): Figure[] => {
    const costOf = (round: PeersRound) => (round.peers[at] as Record<SyncName, Cost>)[name]
    const value = median(rounds.map((round) => round[name].cpuSeconds / costOf(round).cpuSeconds))
    const measure = `${name}: CPU of ours against ${peer.name}`
    const aim = peer.seesDeletes ? { most: 1 } : null
    return [
      againstBare(rounds, { name, who: peer.name, costOf }),
      { part, measure: peer.seesDeletes ? measure : `${measure}, which sees no deletes`, value, unit: 'ratio', aim },
    ]
  })
}

type Whose = { name: SyncName; who: string; costOf: (round: PeersRound) => Cost }

function againstBare(rounds: readonly PeersRound[], { name, who, costOf }: Whose): Figure {
  const value = median(rounds.map((round) => costOf(round).cpuSeconds / bareOf(round, 'cpuSeconds')))
  const taken = median(rounds.map((round) => costOf(round).cpuSeconds))
  const bare = median(rounds.map((round) => bareOf(round, 'cpuSeconds')))
  const measure = `${name}: CPU of ${who} (${taken.toFixed(2)} s) against the bare loop (${bare.toFixed(2)} s)`
  return { part, measure, value, unit: 'ratio', aim: null }
}
