import { startEmulators } from '../lib/local/emulators/emulators.ts'
import { answering } from './processes.ts'

/** Emulators in a process of their own, so that their work is not counted as the worker's. */
answering(async ({ dir }: { dir: string }) => {
  const { environment } = await startEmulators({ dir })
  return { environment }
})
