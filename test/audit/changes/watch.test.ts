import { describe, expect, it } from 'vitest'
import { diffSettings } from '../../../lib/audit/changes/diff.ts'
import { createWatch, mostSevere, WatchRule } from '../../../lib/audit/changes/watch.ts'
import { watchRules } from '../../../lib/audit/changes/watch-rules.ts'
import type { Json } from '../../../lib/core/json.ts'
import { createRedactor } from '../../../lib/redaction/redact.ts'

const { redact } = createRedactor('k')
function matches(before: Json, after: Json, rules: readonly WatchRule[] = watchRules) {
  return diffSettings(redact(before, { secretPaths: [] }), redact(after, { secretPaths: [] }), {
    comparableSecrets: true,
  })
    .flatMap(createWatch(rules))
    .map(({ id }) => id)
}

const dangerous: [string, Json, Json][] = [
  ['shield-off', { enableAgentShield: true }, { enableAgentShield: false }],
  ['shield-off', { enableAgentShield: true }, {}],
  ['sandbox-off', { sandbox: { enabled: true } }, { sandbox: { enabled: false } }],
  ['sandbox-off', { sandbox: { enabled: true } }, {}],
  ['sandbox-off', { sandbox: { enabled: true } }, { sandbox: { enabled: null } }],
  ['sandbox-off', { sandbox: { enabled: true } }, { sandbox: null }],
  ['sandbox-off', { sandbox: { enabled: true } }, { sandbox: 'none' }],
  ['shield-off', { enableAgentShield: true }, []],
  ['denied-commands-shortened', { commandDenylist: ['rm'] }, { commandDenylist: 'none' }],
  ['allow-list-emptied', { networkPolicy: { allowedIps: ['10.0.0.1'] } }, { networkPolicy: 'open' }],
  ['denied-commands-shortened', { commandDenylist: ['rm'] }, { commandDenylist: null }],
  ['allow-list-emptied', { networkPolicy: { allowedIps: ['10.0.0.1'] } }, { networkPolicy: null }],
  ['addresses-widened', { networkPolicy: { allowedIps: null } }, { networkPolicy: { allowedIps: ['0.0.0.0/0'] } }],
  ['custom-model-added', { customModels: null }, { customModels: [{ id: 'x' }] }],
  ['mcp-policy-off', { mcpPolicy: { enabled: true } }, { mcpPolicy: null }],
  ['sandbox-mode-changed', { sandbox: { mode: 'per-command' } }, { sandbox: { mode: 'x' } }],
  [
    'sandbox-opened',
    { sandbox: { network: { allowedDomains: [] } } },
    { sandbox: { network: { allowedDomains: ['*'] } } },
  ],
  ['sandbox-denial-dropped', { sandbox: { filesystem: { denyRead: ['/etc'] } } }, {}],
  ['sandbox-sockets-opened', {}, { sandbox: { network: { allowAllUnixSockets: true } } }],
  ['autonomy-raised', { maxAutonomyLevel: 'off' }, { maxAutonomyLevel: 'low' }],
  ['autonomy-raised', { maxAutonomyLevel: 'high' }, { maxAutonomyLevel: 'unheard-of' }],
  ['autonomy-raised', { maxAutonomyLevel: 'off' }, {}],
  ['mcp-autonomy-changed', {}, { mcpAutonomyOverrides: { 'server.tool': 'high' } }],
  ['denied-commands-shortened', { commandDenylist: ['rm', 'dd'] }, { commandDenylist: ['rm'] }],
  ['allowed-commands-widened', { commandAllowlist: ['ls'] }, { commandAllowlist: ['ls', 'curl'] }],
  [
    'addresses-widened',
    { networkPolicy: { allowedIps: ['10.0.0.1'] } },
    { networkPolicy: { allowedIps: ['10.0.0.1', '0.0.0.0/0'] } },
  ],
  ['allow-list-emptied', { networkPolicy: { allowedIps: ['10.0.0.1'] } }, { networkPolicy: { allowedIps: [] } }],
  [
    'custom-models-allowed',
    { modelPolicy: { allowCustomModels: false } },
    { modelPolicy: { allowCustomModels: true } },
  ],
  ['custom-model-added', { customModels: [] }, { customModels: [{ id: 'x' }] }],
  ['custom-model-added', { customModels: [{ id: 'x', baseUrl: 'a' }] }, { customModels: [{ id: 'x', baseUrl: 'b' }] }],
  ['base-urls-widened', {}, { modelPolicy: { allowedBaseUrls: ['https://x'] } }],
  ['model-unblocked', { modelPolicy: { blockedModelIds: ['m'] } }, { modelPolicy: { blockedModelIds: [] } }],
  ['mcp-opened', {}, { mcpPolicy: { allowlist: ['x'] } }],
  ['mcp-policy-off', { mcpPolicy: { enabled: true } }, { mcpPolicy: { enabled: false } }],
  ['missions-opened', { missionPolicy: { restrictedAccess: true } }, { missionPolicy: { restrictedAccess: false } }],
  ['marketplace-added', {}, { strictKnownMarketplaces: [{ source: 'git', repo: 'x' }] }],
  ['marketplace-added', {}, { extraKnownMarketplaces: { x: { repo: 'y' } } }],
  ['key-creation-opened', { restrictApiKeyCreationToManagers: true }, { restrictApiKeyCreationToManagers: false }],
  ['retention-shortened', { sessionRetentionDays: 90 }, { sessionRetentionDays: 30 }],
  ['session-sync-off', { cloudSessionSync: true }, { cloudSessionSync: false }],
  ['co-author-off', { includeCoAuthoredByAgent: true }, { includeCoAuthoredByAgent: false }],
  ['secret-changed', { customModels: [{ id: 'x', apiKey: 's1' }] }, { customModels: [{ id: 'x', apiKey: 's2' }] }],
]

describe('watch rules', () => {
  it.each(dangerous)('%s is seen', (id, before, after) => {
    expect(matches(before, after)).toContain(id)
  })

  it.each<[string, Json, Json]>([
    [
      'what grew safer',
      { enableAgentShield: false, sandbox: { enabled: false } },
      { enableAgentShield: true, sandbox: { enabled: true } },
    ],
    ['a lowered level', { maxAutonomyLevel: 'high' }, { maxAutonomyLevel: 'low' }],
    ['a longer deny list', { commandDenylist: ['rm'] }, { commandDenylist: ['rm', 'dd'] }],
    ['a level set to the lowest', {}, { maxAutonomyLevel: 'off' }],
    ['a longer retention', { sessionRetentionDays: 30 }, { sessionRetentionDays: 90 }],
    ['other settings', { wikiCloudSync: true, ideAutoConnect: false }, { wikiCloudSync: false, ideAutoConnect: true }],
  ])('do not match %s', (_, before, after) => {
    expect(matches(before, after)).toEqual([])
  })

  it('are each well formed, seen by a test above, and may be added to or replaced', () => {
    for (const rule of watchRules) expect(() => WatchRule.parse(rule)).not.toThrow()
    expect(watchRules.map(({ id }) => id).sort()).toEqual([...new Set(dangerous.map(([id]) => id))].sort())
    const own = WatchRule.parse({ id: 'plugins', paths: ['enabledPlugins.**'], severity: 'warning', why: 'Ours.' })
    expect(matches({}, { enabledPlugins: { a: { b: 1 } } }, [...watchRules, own])).toEqual(['plugins'])
    const milder = WatchRule.parse({ id: 'shield-off', paths: ['nothing'], severity: 'info', why: 'Ours.' })
    expect(matches({ enableAgentShield: true }, {}, [...watchRules, milder])).toEqual([])
    expect(WatchRule.safeParse({ ...own, when: { wrong: 1 } }).success).toBe(false)
  })

  it('tell the mostSevere severity', () => {
    expect(mostSevere(['info', 'critical', 'warning'])).toBe('critical')
    expect(mostSevere([])).toBe(null)
  })
})
