import { singlePage } from '../platform/paging.ts'
import { Computer, ProvisioningStep } from '../platform/schemas/computer.ts'
import { field, within } from './columns.ts'
import { defineStream } from './stream.ts'
import { defineTable } from './table.ts'

const computersTable = defineTable({
  name: 'computers',
  doc: 'Computers that sessions can run on: one row per computer.',
  key: ['id'],
  each: (computer: Computer) => [computer],
  columns: [
    field(Computer, 'id'),
    field(Computer, 'name'),
    field(Computer, 'providerType'),
    field(Computer, 'createdAt', { type: 'timestamp' }),
    field(Computer, 'hostname'),
    field(Computer, 'status'),
    field(Computer, 'relayClientUrl'),
    field(Computer, 'relayAgentUrl'),
    field(Computer, 'remoteUser'),
  ],
})

type StepRow = { computer: Computer; position: number; step: ProvisioningStep }
function ofStep(row: StepRow) {
  return row.step
}

const steps = defineTable({
  name: 'computer_provisioning_steps',
  doc: 'Steps of setting computers up: one row per computer and step.',
  key: ['computer_id', 'position'],
  each: (computer: Computer): StepRow[] =>
    computer.provisioningSteps?.map((step, position) => ({ computer, position, step })) ?? [],
  columns: [
    within((row: StepRow) => row.computer, field(Computer, 'id', { name: 'computer_id' })),
    {
      name: 'position',
      type: 'int64',
      doc: "Place in the computer's list of steps, from 0.",
      value: (row) => row.position,
    },
    within(ofStep, field(ProvisioningStep, 'id', { name: 'step_id' })),
    within(ofStep, field(ProvisioningStep, 'name')),
    within(ofStep, field(ProvisioningStep, 'status')),
    within(ofStep, field(ProvisioningStep, 'error')),
    within(ofStep, field(ProvisioningStep, 'installSessionId')),
    within(ofStep, field(ProvisioningStep, 'startedAt', { type: 'timestamp' })),
    within(ofStep, field(ProvisioningStep, 'completedAt', { type: 'timestamp' })),
  ],
})

/** Computers that sessions can run on (§4.2, endpoint 10). */
export const computers = defineStream({
  name: 'computers',
  doc: 'Computers that sessions can run on. A computer changes while it is being set up.',
  endpoint: { base: 'v0', path: '/api/v0/computers' },
  paging: singlePage('computers'),
  schema: Computer,
  primaryKey: 'id',
  secretPaths: [],
  tables: [computersTable, steps],
})
