import type { WatchRule } from './watch.ts'

const stopped = { was: true, kind: ['changed', 'removed'] } satisfies WatchRule['when']

/** What loosens the hold on commands that agents run: shield and sandbox (§2.10). */
export const confinementRules: readonly WatchRule[] = [
  {
    id: 'shield-off',
    paths: ['enableAgentShield'],
    when: stopped,
    severity: 'critical',
    why: 'Without the shield nothing checks what agents are about to do.',
  },
  {
    id: 'sandbox-off',
    paths: ['sandbox.enabled'],
    when: stopped,
    severity: 'critical',
    why: 'Commands of agents run without a sandbox.',
  },
  {
    id: 'sandbox-mode-changed',
    paths: ['sandbox.mode'],
    when: {},
    severity: 'warning',
    why: 'The mode decides which commands the sandbox holds.',
  },
  {
    id: 'sandbox-opened',
    paths: [
      'sandbox.network.allowedDomains',
      'sandbox.network.allowUnixSockets',
      'sandbox.filesystem.allowWrite',
      'sandbox.filesystem.allowRead',
    ],
    when: { kind: ['added'] },
    severity: 'warning',
    why: 'The sandbox lets more through than before.',
  },
  {
    id: 'sandbox-denial-dropped',
    paths: ['sandbox.filesystem.denyWrite', 'sandbox.filesystem.denyRead'],
    when: { kind: ['removed'] },
    severity: 'critical',
    why: 'Files that were out of reach can be read or written.',
  },
  {
    id: 'sandbox-sockets-opened',
    paths: ['sandbox.network.allowAllUnixSockets', 'sandbox.network.allowLocalBinding'],
    when: { becomes: true },
    severity: 'critical',
    why: 'Sockets of the machine can lead out of the sandbox.',
  },
]
