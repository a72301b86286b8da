import type { Life } from '../population.ts'
import { hash32, pick, unit } from '../random.ts'

const first = ['Ana', 'Jürgen', 'Mei', 'Omar', 'Zoë', 'Priya', 'Tomás', 'Ingrid', 'Kofi', 'Lea'] as const
const last = ['Okafor', 'Müller', 'Chen', 'Haddad', "O'Brien", 'Sharma', 'García', 'Berg', 'Mensah', 'Rossi'] as const
function ascii(text: string) {
  return text
    .normalize('NFD')
    .replace(/[^a-zA-Z]/g, '')
    .toLowerCase()
}

/** The e-mail address of a user; its number leads back to the user's position. */
export function emailOf({ key, position }: Life): string {
  return `${ascii(pick(first, hash32(key, 1)))}.${ascii(pick(last, hash32(key, 2)))}${position}@example.com`
}

/** The position that an address of `emailOf` speaks of. */
export function positionOfEmail(email: string): number | undefined {
  const digits = /^[a-z.]+(\d+)@example\.com$/i.exec(email)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** A user of the organization as the API sends it (§2.7). */
export function userOf(life: Life, id: string): Record<string, unknown> {
  const { key, version, createdAt, changedAt } = life
  const has = (salt: number, share: number) => unit(key, salt) < share
  return {
    id,
    email: emailOf(life),
    createdAt: has(9, 0.97) ? new Date(createdAt).toISOString() : undefined,
    firstName: has(3, 0.95) ? pick(first, hash32(key, 1)) : undefined,
    lastName: has(4, 0.93) ? pick(last, hash32(key, 2)) : has(5, 0.5) ? null : undefined,
    lastSignInAt: has(6, 0.85) ? new Date(version > 0 ? changedAt : createdAt + 60_000).toISOString() : undefined,
    metadata: has(7, 0.8)
      ? { department: pick(['Engineering', 'Data', 'Design'], hash32(key, 8)), signIns: version }
      : undefined,
  }
}
