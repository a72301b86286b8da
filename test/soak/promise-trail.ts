import { formsOf } from '../support/worlds/canaries.ts'
import { everythingIn } from '../support/worlds/everything.ts'
import { auditViewOf } from '../support/worlds/observe-audit.ts'
import { nothing } from '../support/worlds/storage.ts'
import type { Stored } from './contents.ts'
import { everythingListed } from './platform-lists.ts'
import type { World } from './world.ts'

/** What is wrong with the audit trail: faults in its chains, findings that nothing gave reason for, revisions it misses. */
export async function faultsOfTrail(
  world: World,
  stored: Stored,
  { isWhole }: { isWhole: boolean },
): Promise<string[]> {
  const view = await auditViewOf(stored)
  if (!view) return isWhole ? ['there is no audit trail'] : []
  const revisions = await everythingListed(world.simulator, 'enterprise_control_revisions')
  const missing = isWhole && view.entries.length !== revisions.length
  return [
    ...view.faults.map((fault) => `audit trail: ${JSON.stringify(fault)}`),
    ...view.findings.map((finding) => `audit trail: a finding without a reason: ${JSON.stringify(finding)}`),
    ...(missing ? [`the audit trail has ${view.entries.length} entries of ${revisions.length} revisions`] : []),
  ]
}

/** Secrets that show in what was stored since the last look, or was logged. */
export async function secretsTold(world: World, stored: Stored): Promise<string[]> {
  const { canaries, keys, logged } = world
  const { objects, items } = stored.fresh
  const unpacked = await everythingIn({ ...nothing, objects })
  const text = [...items, ...logged.splice(0), unpacked].join('\n')
  const secrets = [...canaries, ...keys.map((secret) => ({ place: 'a key of a worker', secret }))]
  return secrets
    .filter(({ secret }) => formsOf(secret).some((form) => text.includes(form)))
    .map(({ place }) => `a secret shows: ${place}`)
}
