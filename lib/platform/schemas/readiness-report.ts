import * as z from 'zod'
import { id, openEnum, resource, unixMs } from '../fields.ts'

function doc(meaning: string) {
  return `${meaning} (§2.1).`
}

/** What an application of a repository does (§2.1, App description). */
export const AppDescription = resource(() => ({
  description: z.string().describe(doc('Brief statement of what the application does')),
}))
export type AppDescription = z.infer<typeof AppDescription>

/** How a repository fares on one criterion (§2.1, Criterion evaluation). */
export const CriterionEvaluation = resource(() => ({
  numerator: z
    .number()
    .min(0)
    .describe(doc('Count of sub-applications that pass the criterion; 0 up to the denominator')),
  denominator: z
    .number()
    .min(1)
    .describe(doc('Count of sub-applications on which the criterion was evaluated; at least 1')),
  rationale: z.string().describe(doc('Explanation of the result')),
})).refine(({ numerator, denominator }) => numerator <= denominator, {
  path: ['numerator'],
  error: 'is greater than the denominator',
})
export type CriterionEvaluation = z.infer<typeof CriterionEvaluation>

/** The model that evaluated a repository (§2.1, Model used). */
const ModelUsed = resource(() => ({
  id: z.string().describe(doc('Identifier of the model that evaluated the repository')),
  reasoningEffort: openEnum('low', 'medium', 'high', 'off').describe(
    doc('Reasoning effort of the model that evaluated the repository: low, medium, high or off'),
  ),
}))

/** An evaluation of how ready a code repository is for agent work (§2.1). */
export const ReadinessReport = resource(() => ({
  reportId: id().describe(doc('Unique identifier of the report, a UUID')),
  createdAt: unixMs().describe(doc('When the report was created')),
  repoUrl: z.string().describe(doc('URL of the repository that was evaluated')),
  apps: z.record(z.string(), AppDescription).describe(doc('Applications of the repository by their path')),
  report: z.record(z.string(), CriterionEvaluation).describe(doc('Evaluations by the id of their criterion')),
  commitHash: z.string().nullish().describe(doc('Commit hash at the time of the evaluation')),
  branch: z.string().nullish().describe(doc('Branch at the time of the evaluation')),
  hasLocalChanges: z.boolean().nullish().describe(doc('Whether uncommitted changes existed')),
  hasNonRemoteCommits: z.boolean().nullish().describe(doc('Whether unpushed commits existed')),
  modelUsed: ModelUsed.nullish().describe(doc('The model that evaluated the repository')),
  agentVersion: z.string().nullish().describe(doc('Version of the command-line agent that produced the report')),
}))
export type ReadinessReport = z.infer<typeof ReadinessReport>
