#!/usr/bin/env node
import { setGlobalProxyFromEnv } from 'node:http'
import { systemClock } from '../core/clock.ts'
import { processVariables } from '../core/env.ts'
import { exitCodes } from './exit-codes.ts'
import { runCli } from './program.ts'

const variables = processVariables()
// What runs on this machine is never behind a proxy: the emulators, the simulator.
const noProxy = [variables.NO_PROXY ?? variables.no_proxy, '127.0.0.1', 'localhost'].filter(Boolean).join(',')
setGlobalProxyFromEnv({ ...variables, NO_PROXY: noProxy, no_proxy: noProxy })

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
  interrupted: interruption.signal,
  exit: (code) => {
    process.exitCode = code
  },
})
