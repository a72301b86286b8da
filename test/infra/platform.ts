/** The least a configuration must give. */
export const platform = {
  appUrl: 'https://app.example.com',
  baseUrl: 'https://api.example.com',
  secretName: 'platform-sync/api-key',
}
