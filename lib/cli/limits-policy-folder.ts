import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { composePolicy, type PolicyRoot } from '../compose/limits-policy.ts'
import { FatalError, messageOf } from '../core/errors.ts'
import type { PolicyFolder } from '../limits/policy/load-policy.ts'
import type { LimitsWorkspace } from './limits-workspace.ts'

/** A policy on this machine: its folder and the name of its file. */
export type PolicyPath = { folder: PolicyFolder; file: string }

/** The policy at a path, with the lists beside it. @throws FatalError `usage` when reading there is no such file. */
export function policyAt(path: string): PolicyPath {
  const file = basename(path)
  return {
    file,
    folder: {
      read: (name) =>
        readFile(join(dirname(path), name)).catch((cause: NodeJS.ErrnoException) => {
          if (name !== file && cause.code === 'ENOENT') return null
          throw new FatalError(`The file ${name} can't be read: ${messageOf(cause)}.`, { code: 'usage', cause })
        }),
    },
  }
}

/** Opens what keeping a policy needs, over the clients that are open already. */
export function openPolicyRoot({ workspace, limits, log }: LimitsWorkspace): PolicyRoot {
  return workspace.open((variables, runtime) => composePolicy(variables, { ...runtime, log, sqs: limits.sqs }))
}
