import { cursorPages } from '../platform/paging.ts'
import { OrganizationUser } from '../platform/schemas/organization-user.ts'
import { field } from './columns.ts'
import { defineStream } from './stream.ts'
import { defineTable } from './table.ts'

const users = defineTable({
  name: 'organization_users',
  doc: 'Users of the organization: one row per user.',
  key: ['id'],
  each: (user: OrganizationUser) => [user],
  columns: [
    field(OrganizationUser, 'id'),
    field(OrganizationUser, 'email'),
    field(OrganizationUser, 'createdAt', { type: 'timestamp' }),
    field(OrganizationUser, 'firstName'),
    field(OrganizationUser, 'lastName'),
    field(OrganizationUser, 'lastSignInAt', { type: 'timestamp' }),
    field(OrganizationUser, 'metadata'),
  ],
})

/** Users of the organization (§4.2, endpoint 11). */
export const organizationUsers = defineStream({
  name: 'organization_users',
  doc: 'Users of the organization. A user changes with every sign-in, and goes when the user leaves.',
  endpoint: { base: 'v0', path: '/api/v0/organization/users' },
  paging: cursorPages('users'),
  schema: OrganizationUser,
  primaryKey: 'id',
  secretPaths: [],
  timeStrings: ['createdAt', 'lastSignInAt'],
  tables: [users],
})
