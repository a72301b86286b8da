import type { SimulatorOptions } from '../lib/local/simulator/options.ts'
import { startSimulator } from '../lib/local/simulator/simulator.ts'
import { answering } from './processes.ts'

/** The platform in a process of its own. */
answering(async (options: SimulatorOptions) => {
  const { appUrl, baseUrl } = await startSimulator(options)
  return { appUrl, baseUrl }
})
