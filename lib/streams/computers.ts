import { singlePage } from '../platform/paging.ts'
import { Computer } from '../platform/schemas/computer.ts'
import { nestedTable, recordTable } from './schema-tables.ts'
import { definePlatformStream } from './stream.ts'

/** Computers that sessions can run on (§4.2, endpoint 10). */
export const computers = definePlatformStream({
  name: 'computers',
  doc: 'Computers that sessions can run on. A computer changes while it is being set up.',
  mode: 'full_refresh',
  reading: singlePage({ endpoint: { base: 'v0', path: '/api/v0/computers' }, items: 'computers' }),
  schema: Computer,
  primaryKey: 'id',
  secretPaths: [],
  personal: ['name', 'hostname', 'remoteUser'],
  tables: [
    recordTable(Computer, {
      name: 'computers',
      doc: 'Computers that sessions can run on: one row per computer.',
      key: ['id'],
      fields: { provisioningSteps: 'left_out' },
    }),
    nestedTable(Computer, 'provisioningSteps', {
      name: 'computer_provisioning_steps',
      doc: 'Steps of setting computers up: one row per computer and step.',
      parentKey: { field: 'id', column: 'computer_id' },
      elementKey: { column: 'position', doc: "Place in the computer's list of steps, from 0." },
      fields: { id: { column: 'step_id' } },
    }),
  ],
})
