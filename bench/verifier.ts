import { verifyTrail } from '../lib/audit/verify/verify.ts'
import { createTrailFolder } from '../lib/stores/trail-folder.ts'
import { answering } from './processes.ts'

/** What verifying a trail came to. */
export type VerifierAnswer = { entries: number; seconds: number; peakMegabytes: number }

/** Verifies a copy of a trail in a folder, in a process that does nothing else. */
answering(async ({ folder }: { folder: string }): Promise<VerifierAnswer> => {
  const began = performance.now()
  const { entries, faults } = await verifyTrail(createTrailFolder(folder))
  if (faults.length > 0) throw new Error(`${faults.length} faults, first ${faults[0]?.place}: ${faults[0]?.message}`)
  const seconds = (performance.now() - began) / 1000
  return { entries: entries.checked, seconds, peakMegabytes: process.resourceUsage().maxRSS / 1024 }
})
