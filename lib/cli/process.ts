import { systemClock } from '../core/clock.ts'
import { processVariables } from '../core/env.ts'
import { exitCodes } from './exit-codes.ts'
import { runCli } from './program.ts'
import { useProxies } from './proxies.ts'

const variables = processVariables()

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted)
    process.stderr.write('Stopping: what was read is kept. The same once more ends the process at once.\n')
    interruption.abort()
  })
}
// A reader that closes its end early (head, less) has seen enough. A terminal that hung up must not end what is to be kept.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (interruption.signal.aborted) return
  if (error.code === 'EPIPE') process.exit(exitCodes.complete)
  process.stderr.write(`The output can't be written: ${error.message}.\n`)
  process.exit(exitCodes.failed)
})
process.stderr.on('error', () => {})

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
