import * as z from 'zod'
import { freeForm, id, resource, timeText } from '../fields.ts'

function doc(meaning: string) {
  return `${meaning} (§2.7).`
}
function text(meaning: string) {
  return z.string().nullish().describe(doc(meaning))
}

/** A user of the organization (§2.7). Only the id is sure to be there: which fields are required is "not shown". */
export const OrganizationUser = resource(() => ({
  id: id().describe(doc('User id')),
  email: text('E-mail address'),
  createdAt: timeText().nullish().describe(doc('When the user was created; a string whose format is not shown')),
  firstName: text('First name'),
  lastName: text('Last name'),
  lastSignInAt: timeText().nullish().describe(doc('When the user last signed in; a string whose format is not shown')),
  metadata: freeForm().nullish().describe(doc('Metadata of the user; contents not shown')),
}))
export type OrganizationUser = z.infer<typeof OrganizationUser>
