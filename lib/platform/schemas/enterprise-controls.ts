import * as z from 'zod'
import { dateTime, freeForm, integer, resource } from '../fields.ts'
import { defaultableSettings } from './session.ts'

function doc(meaning: string) {
  return `${meaning} (§2.10).`
}
function text(meaning: string) {
  return z.string().nullish().describe(doc(meaning))
}
function flag(meaning: string) {
  return z.boolean().nullish().describe(doc(meaning))
}
function count(meaning: string) {
  return integer().nullish().describe(doc(meaning))
}
function strings(meaning: string) {
  return z.array(z.string()).nullish().describe(doc(meaning))
}
function free(meaning: string) {
  return freeForm()
    .nullish()
    .describe(doc(`${meaning}; contents not shown`))
}

/** A model of a cloud provider (§2.10, hostedProvider). Its last two fields are treated as secrets. */
const HostedProvider = resource(() => ({
  cloudProfile: text('Profile of the cloud account'),
  cloudRegion: text('Region of the cloud'),
  hostedBaseUrl: text('Address of the hosted model'),
  cloudAuthRefresh: text('How cloud credentials are refreshed; secret'),
  cloudCredentialExport: text('How cloud credentials are exported; secret'),
}))

/** A model that the organization brings itself (§2.10, Custom model). */
const CustomModel = resource(() => ({
  model: text('Model name'),
  provider: text('Identifier of the provider'),
  id: text('Id of the custom model'),
  index: count('Position among the custom models'),
  baseUrl: text('Address of the model'),
  apiKey: text('API key; secret'),
  displayName: text('Name shown to users'),
  maxContextLimit: count('Largest context, tokens'),
  enableThinking: flag('Whether thinking is enabled'),
  thinkingMaxTokens: count('Most thinking tokens'),
  maxOutputTokens: count('Most output tokens'),
  reasoningEffort: text('Reasoning effort; values not shown'),
  extraHeaders: free('Further request headers; values are secret'),
  extraArgs: free('Further request arguments; values are secret'),
  noImageSupport: flag('Whether the model takes no images'),
  hostedProvider: HostedProvider.nullish().describe(doc('Cloud that hosts the model')),
}))

const ModelPolicy = resource(() => ({
  allowedModelIds: strings('Models that are allowed'),
  blockedModelIds: strings('Models that are blocked'),
  allowCustomModels: flag('Whether custom models are allowed'),
  allowedBaseUrls: strings('Addresses that custom models may have'),
  allowAllPlatformModels: flag('Whether all models of the platform are allowed'),
  isFastModelsAllowed: flag('Whether fast models are allowed'),
}))

const SandboxFilesystem = resource(() => ({
  allowWrite: strings('Paths that may be written'),
  allowRead: strings('Paths that may be read'),
  denyWrite: strings('Paths that may not be written'),
  denyRead: strings('Paths that may not be read'),
}))

const SandboxNetwork = resource(() => ({
  allowedDomains: strings('Domains that may be reached'),
  allowUnixSockets: strings('Unix sockets that may be used'),
  allowAllUnixSockets: flag('Whether all Unix sockets may be used'),
  allowLocalBinding: flag('Whether local ports may be bound'),
  httpProxyPort: count('Port of the HTTP proxy'),
  socksProxyPort: count('Port of the SOCKS proxy'),
}))

const Sandbox = resource(() => ({
  enabled: flag('Whether the sandbox is enabled'),
  mode: text('Mode of the sandbox; one value seen: per-command'),
  filesystem: SandboxFilesystem.nullish().describe(doc('What the sandbox lets through to files')),
  network: SandboxNetwork.nullish().describe(doc('What the sandbox lets through to the network')),
}))

const Marketplace = resource(() => ({
  source: text('Identifier of the provider of the marketplace'),
  repo: text('Repository of the marketplace'),
}))

/** The organization's settings (§2.10). Which of them are required is "not shown". */
export const EnterpriseSettings = resource(() => ({
  sessionDefaultSettings: resource(defaultableSettings)
    .nullish()
    .describe(doc('Defaults for the settings of new sessions')),
  maxAutonomyLevel: defaultableSettings().autonomyLevel.describe(doc('Highest autonomy level; one value seen: off')),
  mcpAutonomyOverrides: free('Autonomy of single MCP tools'),
  cloudSessionSync: flag('Whether sessions are kept in the cloud'),
  wikiCloudSync: flag('Whether wikis are kept in the cloud'),
  includeCoAuthoredByAgent: flag('Whether commits name the agent as co-author'),
  enableAgentShield: flag('Whether the agent shield is enabled'),
  ideAutoConnect: flag('Whether the agent connects to the IDE by itself'),
  commandAllowlist: strings('Commands that are allowed'),
  commandDenylist: strings('Commands that are denied'),
  customModels: z.array(CustomModel).nullish().describe(doc('Models that the organization brings itself')),
  modelPolicy: ModelPolicy.nullish().describe(doc('Which models may be used')),
  mcpPolicy: resource(() => ({
    enabled: flag('Whether the MCP policy is enabled'),
    allowlist: strings('MCP servers that are allowed'),
  }))
    .nullish()
    .describe(doc('Which MCP servers may be used')),
  missionPolicy: resource(() => ({
    restrictedAccess: flag('Whether missions are restricted to some users'),
    allowedUserIds: strings('Users that may run missions'),
  }))
    .nullish()
    .describe(doc('Who may run missions')),
  userModelPolicies: free('Model policies of single users'),
  enabledPlugins: free('Plugins that are enabled'),
  extraKnownMarketplaces: free('Further marketplaces'),
  strictKnownMarketplaces: z.array(Marketplace).nullish().describe(doc('The only marketplaces allowed')),
  networkPolicy: resource(() => ({ allowedIps: strings('IP addresses that may reach the platform') }))
    .nullish()
    .describe(doc('From where the platform may be reached')),
  sandbox: Sandbox.nullish().describe(doc('Sandbox that commands run in')),
  restrictMemberVisibility: flag('Whether members do not see each other'),
  restrictApiKeyCreationToManagers: flag('Whether only managers may create API keys'),
  managedComputersEnabled: flag('Whether managed computers are enabled'),
  byomComputersEnabled: flag('Whether computers that users bring are enabled'),
  managedComputersAllowedEmails: strings('E-mail addresses of those who may use managed computers'),
  byomComputersAllowedEmails: strings('E-mail addresses of those who may bring computers'),
  sessionRetentionDays: count('How long sessions are kept, days'),
}))
export type EnterpriseSettings = z.infer<typeof EnterpriseSettings>

/** One change of the enterprise settings (§2.9): who made it, when, and the settings after it. */
export const EnterpriseControlRevision = resource(() => ({
  revision: integer().describe('Number of the revision (§2.9).'),
  updatedAt: dateTime().nullish().describe('When the change was made, date-time (§2.9).'),
  user: resource(() => ({
    id: z.string().nullish().describe('Id of the user who made the change (§2.9).'),
    email: z.string().nullish().describe('E-mail address of the user who made the change (§2.9).'),
    name: z.string().nullish().describe('Name of the user who made the change (§2.9).'),
  }))
    .nullish()
    .describe('The user who made the change (§2.9).'),
  settings: EnterpriseSettings.describe('The settings as of this revision (§2.9, §2.10).'),
}))
export type EnterpriseControlRevision = z.infer<typeof EnterpriseControlRevision>
