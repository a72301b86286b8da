import { slices } from '../lib/core/concurrency.ts'
import { answering } from './processes.ts'

type Question = { baseUrl: string; emails: string[] }

/** The least that any client must do: set limits a hundred at a time, one PUT after the other, over one connection. */
answering(async ({ baseUrl, emails }: Question) => {
  const began = performance.now()
  let updated = 0
  for (const group of slices(emails, 100)) {
    const response = await fetch(`${baseUrl}/api/v0/organization/usage/limits/users`, {
      method: 'PUT',
      headers: { authorization: 'Bearer sim-key', 'content-type': 'application/json' },
      body: JSON.stringify({ users: group.map((email) => ({ email, limit: 100 })) }),
    })
    updated += ((await response.json()) as { updated: unknown[] }).updated.length
  }
  return { updated, seconds: (performance.now() - began) / 1000 }
})
