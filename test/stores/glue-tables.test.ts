import {
  AlreadyExistsException,
  ConcurrentModificationException,
  CreateTableCommand,
  EntityNotFoundException,
  GetTableCommand,
  InvalidInputException,
  UpdateTableCommand,
} from '@aws-sdk/client-glue'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import { emptyTable } from '../../lib/publish/iceberg/metadata.ts'
import { createGlue } from '../../lib/stores/catalog.ts'
import { createGluePointers } from '../../lib/stores/glue-tables.ts'
import { organizationUsers } from '../../lib/streams/organization-users.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'

// No emulator knows Glue.
const client = createGlue({ region: 'us-east-1' })
const glue = mockClient(client)
const address = 's3://lake'
const location = `${address}/iceberg/organization_users`
const name = 'organization_users'
const { signal } = new AbortController()
const metadata = emptyTable(organizationUsers.tables[0], { uuid: 'u', location, byDay: true, now: 1 })
const refusal = { message: 'as it is', $metadata: {} }

function pointers() {
  let attempts = 0
  const objects = createMemoryObjects('lake')
  const newAttempt = () => `attempt-${++attempts}`
  return { objects, ...createGluePointers({ glue: client, database: 'acme_iceberg', objects, address, newAttempt }) }
}

beforeEach(() => {
  glue.reset()
  glue.on(GetTableCommand).rejects(new EntityNotFoundException(refusal))
})

describe('a table in Glue', () => {
  it('is made with its metadata, its columns and their ids, and found again', async () => {
    const { objects, find, replace } = pointers()
    expect(await find(name)).toBeNull()
    expect(await replace(name, { found: null, metadata, signal })).toBe(true)
    const [created] = glue.commandCalls(CreateTableCommand)
    const { DatabaseName, TableInput } = created!.args[0].input
    const metadataLocation = `${location}/metadata/00000-attempt-1.metadata.json`
    expect([DatabaseName, TableInput?.Name]).toEqual(['acme_iceberg', name])
    expect(TableInput?.Parameters).toEqual({
      EXTERNAL: 'TRUE',
      table_type: 'ICEBERG',
      metadata_location: metadataLocation,
    })
    expect(TableInput?.StorageDescriptor).toMatchObject({ Location: location })
    expect(TableInput?.StorageDescriptor?.Columns?.slice(0, 3)).toMatchObject([
      { Name: 'id', Type: 'string', Parameters: { 'iceberg.field.id': '1' } },
      { Name: 'email', Type: 'string' },
      { Name: 'created_at', Type: 'timestamp' },
    ])
    expect(await objects.list('')).toEqual([metadataLocation.replace('s3://lake/', '')])
    glue.on(GetTableCommand).resolves({ Table: { ...TableInput, Name: name, VersionId: '7' } })
    expect(await find(name)).toEqual({ metadata, path: metadataLocation, version: '7' })
  })

  it('is moved on the condition that it is as it was read, and says what it was before', async () => {
    const { replace } = pointers()
    const path = `${location}/metadata/00004-x.metadata.json`
    expect(await replace(name, { found: { metadata, path, version: '7' }, metadata, signal })).toBe(true)
    const [updated] = glue.commandCalls(UpdateTableCommand)
    const { input } = updated!.args[0]
    expect(input).toMatchObject({ VersionId: '7', SkipArchive: true })
    expect(input.TableInput?.Parameters).toMatchObject({
      metadata_location: `${location}/metadata/00005-attempt-1.metadata.json`,
      previous_metadata_location: path,
    })
  })

  it('is not moved when another was faster, and a refusal for another reason is an error', async () => {
    const { replace } = pointers()
    const found = { metadata, path: `${location}/metadata/00004-x.metadata.json`, version: '7' }
    glue.on(UpdateTableCommand).rejects(new ConcurrentModificationException(refusal))
    glue.on(CreateTableCommand).rejects(new AlreadyExistsException(refusal))
    expect(await replace(name, { found, metadata, signal })).toBe(false)
    expect(await replace(name, { found: null, metadata, signal })).toBe(false)
    glue.on(UpdateTableCommand).rejects(new InvalidInputException(refusal))
    await expect(replace(name, { found, metadata, signal })).rejects.toThrow('as it is')
  })

  it('of someone else is left alone, with a word on what to do', async () => {
    const { find } = pointers()
    glue
      .on(GetTableCommand)
      .resolves({ Table: { Name: name, Parameters: { classification: 'parquet' }, VersionId: '1' } })
    await expect(find(name)).rejects.toThrow(
      'The table acme_iceberg.organization_users in Glue is no Iceberg table of s3://lake',
    )
  })
})
