import type { WatchRule } from './watch.ts'
import { confinementRules } from './watch-rules-confinement.ts'

/** Levels as far as they are known (§2.3: "off" is seen, the full list is not shown); another one counts as raised. */
const autonomyLevels = ['off', 'low', 'medium', 'high']

const stopped = { was: true, kind: ['changed', 'removed'] } satisfies WatchRule['when']
const added = { kind: ['added'] } satisfies WatchRule['when']
const removed = { kind: ['removed'] } satisfies WatchRule['when']

/** What deserves attention in every organization (§2.10). A rule in the configuration with the same id replaces one. */
export const watchRules: readonly WatchRule[] = [
  ...confinementRules,
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
