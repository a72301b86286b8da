import type { Life } from '../population.ts'
import { hash32, unit } from '../random.ts'
import { settingsAt } from './enterprise-settings.ts'

/** An enterprise control change as the API sends it (§2.9). Revisions are counted from 1, in the order of creation. */
export function revisionOf({ age, key, createdAt }: Life): Record<string, unknown> {
  const admin = hash32(key, 1) % 3
  return {
    revision: age + 1,
    settings: settingsAt(age + 1),
    user:
      unit(key, 3) < 0.05
        ? undefined
        : {
            id: `admin-${admin}`,
            email: `admin${admin}@example.com`,
            name: unit(key, 2) < 0.85 ? `Admin ${admin}` : undefined,
          },
    updatedAt: new Date(createdAt).toISOString(),
  }
}
