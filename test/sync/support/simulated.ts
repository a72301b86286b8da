import { systemClock } from '../../../lib/core/clock.ts'
import { type Deadline, noDeadline } from '../../../lib/core/deadline.ts'
import type { Simulator } from '../../../lib/local/simulator/simulator.ts'
import { createPlatformClient } from '../../../lib/platform/client.ts'
import { fixedCredentials } from '../../../lib/platform/transport.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'
import type { Source } from '../../../lib/sync/ports.ts'
import { createSource } from '../../../lib/sync/source.ts'

type SourceOptions = { key?: string; deadline?: Deadline; timeoutMs?: number }

/** The real client of a simulator, with three attempts and short waits. It is patient: a busy machine is no fault. */
export function sourceOf(
  sim: Pick<Simulator, 'appUrl' | 'baseUrl'>,
  { key = 'sim-key', deadline = noDeadline, timeoutMs = 60_000 }: SourceOptions = {},
): Source {
  return createSource(
    createPlatformClient({
      appUrl: sim.appUrl,
      baseUrl: sim.baseUrl,
      credentials: fixedCredentials(key),
      clock: systemClock,
      random: () => 0,
      timeoutMs,
      retry: { maxAttempts: 3, baseDelayMs: 1 },
    }),
    deadline,
  )
}

/** The real redaction, under a key of its own. */
export const { redact } = createRedactor('r'.repeat(32))
