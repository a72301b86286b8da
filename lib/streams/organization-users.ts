import { cursorPages } from '../platform/paging.ts'
import { OrganizationUser } from '../platform/schemas/organization-user.ts'
import { recordTable } from './schema-tables.ts'
import { definePlatformStream } from './stream.ts'

/** Users of the organization (§4.2, endpoint 11). */
export const organizationUsers = definePlatformStream({
  name: 'organization_users',
  doc: 'Users of the organization. A user changes with every sign-in, and goes when the user leaves.',
  mode: 'full_refresh',
  reading: cursorPages({
    endpoint: { base: 'v0', path: '/api/v0/organization/users' },
    items: 'users',
    pageSize: 100,
  }),
  schema: OrganizationUser,
  primaryKey: 'id',
  secretPaths: [],
  personal: ['email', 'firstName', 'lastName', 'metadata'],
  about: { field: 'id', column: 'id' },
  tables: [
    recordTable(OrganizationUser, {
      name: 'organization_users',
      doc: 'Users of the organization: one row per user.',
      key: ['id'],
    }),
  ],
})
