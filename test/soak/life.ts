import { type Draws, drawsOf } from './draws.ts'
import { names } from './installation.ts'
import type { Fault, Plan } from './plan.ts'
import { everythingListed, type ListName, lists, messagesListed } from './platform-lists.ts'
import type { World } from './world.ts'

/** What a day changes. */
type Changed = Pick<World, 'simulator' | 'secret'>

/** A day on the platform: records change, appear and go; sometimes a setting has secrets, or records a field of tomorrow. */
export async function liveOn(
  world: Changed,
  { faults, lively }: Pick<Plan, 'faults' | 'lively'>,
  draws: Draws,
): Promise<void> {
  const { simulator } = world
  const before = simulator.state().records.revisions
  if (lively) simulator.advance()
  for (let revision = before + 1; revision <= simulator.state().records.revisions; revision++) {
    if (draws.happens(0.3)) addSecretsToRevision(world, revision, draws)
  }
  for (const fault of faults) if (fault.kind === 'field of tomorrow') await addField(world, fault.list, draws)
}

/** A change of settings that brings secrets along. */
function addSecretsToRevision({ simulator, secret }: Changed, revision: number, draws: Draws): void {
  const value = simulator.get('revisions', String(revision)) as { settings: object }
  const models = [{ model: 'm', apiKey: secret('setting'), extraHeaders: { 'X-Any': secret('header of a setting') } }]
  const settings = { ...value.settings, customModels: models, sessionRetentionDays: draws.below(90) }
  simulator.put('revisions', String(revision), { value: { ...value, settings } })
}

const listNames = {
  sessions: 'sessions',
  users: 'organization_users',
  computers: 'computers',
  reports: 'readiness_reports',
} satisfies Record<string, ListName>

async function addField({ simulator, secret }: Changed, list: keyof typeof listNames, draws: Draws): Promise<void> {
  const name = listNames[list]
  for (const record of (await everythingListed(simulator, name)).slice(0, 1 + draws.below(3))) {
    const ofTomorrow = { since: draws.below(1000), apiKey: secret('field of tomorrow') }
    const id = String(record[lists[name].key])
    simulator.put(list, id, { value: { ...record, ofTomorrow } })
    // The record changes no more. A session whose messages went on would give no sign of it, as no platform does.
    if (list === 'sessions') {
      const messages = await messagesListed(simulator, id)
      const texts = messages.map((value) => ({ value }))
      simulator.putMessages(id, texts)
    }
  }
}

/** Replaces the keys that are replaced from outside of any job. */
export function rotateKeys({ services, variables, keys }: World, { night, faults }: Plan): void {
  for (const { kind } of faults) {
    if (kind === 'redaction key rotated') {
      keys.push(`a key of the soak, of 32 characters, number ${night}.`)
      services.secrets.set(names.redaction, keys.at(-1)!)
    }
    if (kind === 'signing key rotated') variables.AUDIT_SIGNING_KEY_ARN = `${names.signing}${night}`
  }
}

/** A file that sets the limits of some people. */
export async function limitsFile({ simulator, asked, time }: World, people: number, draws: Draws): Promise<string> {
  const users = await everythingListed(simulator, 'organization_users')
  const emails = users.flatMap(({ email }) => (typeof email === 'string' ? email : []))
  const chosen = new Set(Array.from({ length: people }, () => draws.pick(emails)))
  const lines = [...chosen].map((email) => {
    const limit = 100_000 + asked.length
    asked.push({ email: email.toLowerCase(), limit, at: time.now() })
    return `${email},${limit}`
  })
  return ['email,limit', ...lines, ''].join('\n')
}

/** A file that must change nothing. */
export function wrongFile({ how }: Extract<Fault, { kind: 'wrong file' }>): string | Uint8Array {
  switch (how) {
    case 'a row is broken':
      return 'email,limit\na@example.com,77\nb@example.com,many\n'
    case 'no header':
      return 'a@example.com,77\n'
    case 'two limits for one':
      return 'email,limit\na@example.com,77\nA@example.com,78\n'
    case 'no text':
      return Buffer.from([0, 255, 254, 1, 2, 3])
  }
}

/** The limits that only a wrong file names. */
export const wrongLimits = [77, 78]

/** The draws of what people do on a day. */
export function drawsOfDay(seed: number, night: number): Draws {
  return drawsOf(seed, night, 'day')
}
