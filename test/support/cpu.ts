/** Processor time that `work` takes, ms: what else the machine does at that time doesn't count. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1_000
}
