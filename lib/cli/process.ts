import { systemClock } from '../core/clock.ts'
import { processVariables } from '../core/env.ts'
import { exitCodes } from './exit-codes.ts'
import { runCli } from './program.ts'
import { useProxies } from './proxies.ts'

const variables = processVariables()

const interruption = new AbortController()
process.on('SIGINT', () => {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted)
  interruption.abort()
})
// A reader that closes its end early (head, less) has seen enough.
process.stdout.on('error', () => process.exit(exitCodes.complete))

await runCli(process.argv.slice(2), {
  variables,
  stdout: process.stdout,
  stderr: process.stderr,
  clock: systemClock,
  fetch,
  useProxies,
  interrupted: interruption.signal,
  exit: (code) => {
    process.exitCode = code
  },
})
