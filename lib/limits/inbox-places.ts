/** Places in the inbox bucket. Who may edit a policy must not be able to approve by the same right, so that they differ. */
export const policyPlaces = {
  policy: 'policy/',
  plans: 'policy-plans/',
  approvals: 'policy-approvals/',
} as const

/** Folders of the inbox in which nothing lies that is to be imported: what was dealt with, and the policy. */
export const settledFolders: readonly string[] = ['done/', 'failed/', ...Object.values(policyPlaces)]

/** Whether a file of the inbox is one that somebody dropped to be imported. */
export function isForImport(key: string): boolean {
  return !settledFolders.some((folder) => key.startsWith(folder))
}
