import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { FatalError, messageOf } from '../../core/errors.ts'
import { WatchRule } from './watch.ts'

/** Levels as far as they are known ("off" is seen, the full list is not shown); another one counts as raised. */
const autonomyLevels = ['off', 'low', 'medium', 'high']

const stopped = { was: true, kind: ['changed', 'removed'] } satisfies WatchRule['when']
const added = { kind: ['added'] } satisfies WatchRule['when']
const removed = { kind: ['removed'] } satisfies WatchRule['when']

/** Rules on changes that deserve attention in every organization. A rule in the configuration with the same id replaces one. */
export const watchRules: readonly WatchRule[] = [
  // What loosens the hold on commands that agents run: shield and sandbox.
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
  // What agents may do, with what, and who may decide it.
  {
    id: 'autonomy-raised',
    paths: ['maxAutonomyLevel', 'sessionDefaultSettings.autonomyLevel'],
    when: { raisedIn: autonomyLevels },
    severity: 'critical',
    why: 'Agents may do more without asking a person.',
  },
  {
    id: 'mcp-autonomy-changed',
    paths: ['mcpAutonomyOverrides', 'mcpAutonomyOverrides.**'],
    when: { kind: ['added', 'changed'] },
    severity: 'warning',
    why: 'Single tools may be used without asking a person.',
  },
  {
    id: 'denied-commands-shortened',
    paths: ['commandDenylist'],
    when: removed,
    severity: 'critical',
    why: 'A command that was forbidden may be run.',
  },
  {
    id: 'allowed-commands-widened',
    paths: ['commandAllowlist'],
    when: added,
    severity: 'warning',
    why: 'A command runs without asking a person.',
  },
  {
    id: 'addresses-widened',
    paths: ['networkPolicy.allowedIps'],
    when: added,
    severity: 'warning',
    why: 'The platform can be reached from more addresses.',
  },
  {
    id: 'allow-list-emptied',
    paths: [
      'networkPolicy.allowedIps',
      'mcpPolicy.allowlist',
      'modelPolicy.allowedModelIds',
      'modelPolicy.allowedBaseUrls',
      'strictKnownMarketplaces',
    ],
    when: { emptied: true },
    severity: 'critical',
    why: 'An allow list without items may mean that everything is allowed.',
  },
  {
    id: 'custom-models-allowed',
    paths: ['modelPolicy.allowCustomModels', 'modelPolicy.allowAllPlatformModels'],
    when: { becomes: true },
    severity: 'warning',
    why: 'Code and prompts may go to models that nobody chose one by one.',
  },
  {
    id: 'custom-model-added',
    paths: [
      'customModels',
      'customModels[*]',
      'customModels[*].baseUrl',
      'customModels[*].hostedProvider.hostedBaseUrl',
    ],
    when: { kind: ['added', 'changed'] },
    severity: 'warning',
    why: 'Code and prompts may go to another address.',
  },
  {
    id: 'base-urls-widened',
    paths: ['modelPolicy.allowedBaseUrls'],
    when: added,
    severity: 'warning',
    why: 'Code and prompts may go to another address.',
  },
  {
    id: 'model-unblocked',
    paths: ['modelPolicy.blockedModelIds'],
    when: removed,
    severity: 'warning',
    why: 'A model that was blocked can be used.',
  },
  {
    id: 'mcp-opened',
    paths: ['mcpPolicy.allowlist'],
    when: added,
    severity: 'warning',
    why: 'Agents can use a further MCP server.',
  },
  {
    id: 'mcp-policy-off',
    paths: ['mcpPolicy.enabled'],
    when: stopped,
    severity: 'critical',
    why: 'Agents can use any MCP server.',
  },
  {
    id: 'missions-opened',
    paths: ['missionPolicy.restrictedAccess'],
    when: stopped,
    severity: 'warning',
    why: 'All users may run missions.',
  },
  {
    id: 'marketplace-added',
    paths: ['strictKnownMarketplaces', 'strictKnownMarketplaces[*]', 'extraKnownMarketplaces.**'],
    when: added,
    severity: 'warning',
    why: 'Plugins can come from a further source.',
  },
  {
    id: 'key-creation-opened',
    paths: ['restrictApiKeyCreationToManagers'],
    when: stopped,
    severity: 'warning',
    why: 'Every member can create API keys.',
  },
  {
    id: 'retention-shortened',
    paths: ['sessionRetentionDays'],
    when: { number: 'lower' },
    severity: 'warning',
    why: 'Sessions are deleted sooner, and with them what they could show.',
  },
  {
    id: 'session-sync-off',
    paths: ['cloudSessionSync'],
    when: stopped,
    severity: 'warning',
    why: 'Sessions are no longer kept where they can be looked at.',
  },
  {
    id: 'co-author-off',
    paths: ['includeCoAuthoredByAgent'],
    when: stopped,
    severity: 'info',
    why: 'Commits no longer show that an agent worked on them.',
  },
  {
    id: 'secret-changed',
    paths: ['**'],
    when: { secret: true },
    severity: 'info',
    why: 'A secret was set, rotated or removed; make sure that it was meant.',
  },
]

/**
 * Adds the rules of the configuration to ours: a JSON list, or the path of a file that holds one.
 * @throws FatalError `configuration` that says which rule is wrong and how.
 */
export function configuredRules(configured: string | undefined): readonly WatchRule[] {
  if (!configured) return watchRules
  try {
    const text = configured.trimStart().startsWith('[') ? configured : readFileSync(configured, 'utf8')
    const rules = z.array(WatchRule).safeParse(JSON.parse(text))
    if (!rules.success) throw new Error(z.prettifyError(rules.error).replaceAll('\n', ' '))
    return [...watchRules, ...rules.data]
  } catch (cause) {
    const message = `AUDIT_WATCH_RULES is no list of watch rules: ${messageOf(cause)}. docs/audit.md shows what one looks like`
    throw new FatalError(message, { code: 'configuration', cause })
  }
}
