import * as z from 'zod'
import { id, resource, unixMs } from '../fields.ts'

function doc(meaning: string) {
  return `${meaning} (§2.6).`
}
function text(meaning: string) {
  return z.string().nullish().describe(doc(meaning))
}

/** A step of setting a computer up (§2.6). */
export const ProvisioningStep = resource(() => ({
  id: text('Id of the step'),
  name: text('Name of the step'),
  status: text('Status of the step; values not shown'),
  error: text('What went wrong in the step'),
  installSessionId: text('Session that carries out the installation'),
  startedAt: unixMs().nullish().describe(doc('When the step started')),
  completedAt: unixMs().nullish().describe(doc('When the step was completed')),
}))
export type ProvisioningStep = z.infer<typeof ProvisioningStep>

/** A computer that sessions can run on (§2.6). Only the id is sure to be there: which fields are required is "not shown". */
export const Computer = resource(() => ({
  id: id().describe(doc('Computer id')),
  name: text('Name of the computer'),
  providerType: z.string().nullish().describe(doc('Who provides the computer; one value seen: byom')),
  createdAt: unixMs().nullish().describe(doc('When the computer was registered')),
  hostname: text('Host name'),
  status: z.string().nullish().describe(doc('Status; one value seen: provisioning')),
  provisioningSteps: z
    .array(ProvisioningStep)
    .nullish()
    .describe(doc('Steps of setting the computer up, in their order')),
  relayClientUrl: text('Relay address for clients'),
  relayAgentUrl: text('Relay address for the agent'),
  remoteUser: text('User that sessions run as on the computer'),
}))
export type Computer = z.infer<typeof Computer>
