/**
 * Enterprise settings (§2.10) as a function of a revision: each setting is a function of the revision that touched it
 * last, so that two neighbours differ in one or two places. The secrets are invented, and easy to search for.
 */

type Setting = (touched: number) => unknown

function sometimes(touched: number, value: unknown): unknown {
  return touched % 3 === 2 ? undefined : value
}
const flag: Setting = (touched) => sometimes(touched, touched % 2 === 0)
function list(...items: string[]): Setting {
  return (touched) => sometimes(touched, items.slice(0, 1 + (touched % items.length)))
}

function customModel(touched: number, index: number): Record<string, unknown> {
  return {
    model: `team-llm-${index}`,
    provider: index === 0 ? 'generic-chat-completion-api' : 'hosted',
    id: `custom:team-llm-${index}`,
    index,
    baseUrl: index === 0 ? `https://svc:pw-secret-${touched}@llm.example.com/v1` : undefined,
    apiKey: index === 0 ? `sk-secret-${touched}` : undefined,
    displayName: touched % 2 === 0 ? `Team LLM ${index}` : null,
    maxContextLimit: 200_000 + touched,
    enableThinking: index === 0,
    thinkingMaxTokens: index === 0 ? 8_000 : undefined,
    maxOutputTokens: 16_000,
    reasoningEffort: index === 0 ? 'high' : undefined,
    extraHeaders:
      index === 0 ? { 'X-Api-Key': `header-secret-${touched}`, 'X-Team': `team-header-secret-${touched}` } : undefined,
    extraArgs: touched % 2 === 0 ? { routing_token: `arg-secret-${touched}`, temperature: 0.2 } : undefined,
    noImageSupport: index === 1,
    hostedProvider:
      index === 1
        ? {
            cloudProfile: 'llm-prod',
            cloudRegion: 'eu-central-1',
            hostedBaseUrl: 'https://hosted.example.com',
            cloudAuthRefresh: `refresh --with refresh-secret-${touched}`,
            cloudCredentialExport: `export KEY=export-secret-${touched}`,
          }
        : undefined,
  }
}

const settings: Readonly<Record<string, Setting>> = {
  sessionDefaultSettings: (t) =>
    sometimes(t, {
      model: t % 2 === 0 ? 'atlas-large' : 'borealis-2',
      reasoningEffort: sometimes(t, 'none'),
      interactionMode: 'auto',
      autonomyLevel: 'off',
      autonomyMode: sometimes(t + 1, 'normal'),
      specModeModel: t % 2 === 0 ? 'atlas-small' : undefined,
      specModeReasoningEffort: t % 2 === 0 ? 'none' : undefined,
    }),
  maxAutonomyLevel: (t) => sometimes(t, ['low', 'medium', 'high'][t % 3]),
  mcpAutonomyOverrides: (t) => sometimes(t, { search: 'low', deploy: t % 2 === 0 ? 'off' : 'medium' }),
  cloudSessionSync: flag,
  wikiCloudSync: flag,
  includeCoAuthoredByAgent: flag,
  enableAgentShield: flag,
  ideAutoConnect: flag,
  commandAllowlist: list('npm test', 'git status', 'ls', 'make build'),
  commandDenylist: list('rm -rf /', 'sudo', 'curl * | sh'),
  customModels: (t) => sometimes(t + 1, [customModel(t, 0), customModel(t, 1)].slice(0, 1 + (t % 2))),
  modelPolicy: (t) =>
    sometimes(t, {
      allowedModelIds: ['atlas-large', 'borealis-2'].slice(0, 1 + (t % 2)),
      blockedModelIds: sometimes(t, ['old-model']),
      allowCustomModels: t % 2 === 0,
      allowedBaseUrls: sometimes(t + 1, ['https://llm.example.com']),
      allowAllPlatformModels: sometimes(t, true),
      isFastModelsAllowed: t % 4 === 0 ? null : true,
    }),
  mcpPolicy: (t) => sometimes(t, { enabled: true, allowlist: ['search', 'tickets'].slice(t % 2) }),
  missionPolicy: (t) => sometimes(t, { restrictedAccess: t % 2 === 0, allowedUserIds: [`user-${t}`] }),
  userModelPolicies: (t) => sometimes(t, { [`user-${t}`]: { allowedModelIds: ['atlas-small'] } }),
  enabledPlugins: (t) => sometimes(t, { 'review@acme': t % 2 === 0 }),
  extraKnownMarketplaces: (t) => sometimes(t, { acme: { source: { source: 'git', repo: 'acme/plugins' } } }),
  strictKnownMarketplaces: (t) => sometimes(t, [{ source: 'git', repo: `acme/plugins-${t}` }]),
  networkPolicy: (t) => sometimes(t, { allowedIps: ['203.0.113.0/24', `198.51.100.${t % 250}`] }),
  sandbox: (t) =>
    sometimes(t, {
      enabled: t % 2 === 0,
      mode: 'per-command',
      filesystem: {
        allowWrite: ['/workspace'],
        allowRead: ['/'],
        denyWrite: sometimes(t + 1, ['/etc']),
        denyRead: ['/root'],
      },
      network: {
        allowedDomains: ['registry.example.com'],
        allowUnixSockets: t % 2 === 0 ? ['/run/docker.sock'] : undefined,
        allowAllUnixSockets: false,
        allowLocalBinding: true,
        httpProxyPort: t % 2 === 0 ? 3128 : undefined,
        socksProxyPort: t % 2 === 0 ? 1080 : undefined,
      },
    }),
  restrictMemberVisibility: flag,
  restrictApiKeyCreationToManagers: flag,
  managedComputersEnabled: flag,
  byomComputersEnabled: flag,
  managedComputersAllowedEmails: list('ana@example.com', 'mei@example.com'),
  byomComputersAllowedEmails: list('omar@example.com', 'lea@example.com'),
  sessionRetentionDays: (t) => sometimes(t, 30 + (t % 5) * 30),
}

const names = Object.keys(settings)
// The settings take turns in strides of this length; it shares no factor with their number (checked by a test).
const stride = 10

/** The settings as they stand after a revision. */
export function settingsAt(revision: number): Record<string, unknown> {
  return Object.fromEntries(names.map((name, n) => [name, (settings[name] as Setting)(lastTouch(revision, n))]))
}

// Each setting is touched once in every `names.length` revisions; before its first time it stands at 0.
function lastTouch(revision: number, n: number): number {
  const turn = turns[n] as number
  return revision - 1 < turn ? 0 : Math.floor((revision - 1 - turn) / names.length) + 1
}
const turns = names.map((_, n) => names.findIndex((_, turn) => (turn * stride) % names.length === n))
