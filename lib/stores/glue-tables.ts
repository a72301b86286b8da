import {
  type Column,
  CreateTableCommand,
  EntityNotFoundException,
  GetTableCommand,
  type GlueClient,
  type Table,
  type TableInput,
  UpdateTableCommand,
} from '@aws-sdk/client-glue'
import { FatalError } from '../core/errors.ts'
import { schemaOf, type TableMetadata } from '../publish/iceberg/metadata.ts'
import { tablePrefix } from '../publish/iceberg/places.ts'
import type { FoundTable, TablePointers } from '../publish/iceberg/ports.ts'
import { callAws } from './aws-errors.ts'
import { readMetadata, type TablePlace, writeMetadata } from './table-pointers.ts'

type GlueTablesDeps = TablePlace & { glue: GlueClient; database: string; newAttempt: () => string }

/**
 * Iceberg tables in Glue: the parameter `metadata_location` names the metadata that counts. It is moved on the condition
 * that the table's version is the one that was read, so that of two writers one loses and knows it.
 */
export function createGluePointers(deps: GlueTablesDeps): TablePointers {
  return {
    find: async (name) => {
      const table = await tableNamed(name, deps)
      if (!table) return null
      const { metadata_location: location = '', table_type: type = '' } = table.Parameters ?? {}
      const prefix = `${deps.address}/`
      if (type.toUpperCase() !== 'ICEBERG' || !location.startsWith(prefix)) throw foreign(name, deps)
      const found = await readMetadata(location.slice(prefix.length), table.VersionId ?? '', deps)
      return found
    },
    replace: async (name, { found, metadata, signal }) => {
      const key = `${tablePrefix(name)}metadata/${nextName(found)}-${deps.newAttempt()}.metadata.json`
      await writeMetadata(key, metadata, { place: deps, signal })
      const TableInput = inputOf(name, metadata, { location: `${deps.address}/${key}`, previous: found?.path })
      return await moved(name, { TableInput, found, signal }, deps)
    },
  }
}

function nextName(found: FoundTable | null): string {
  const number = /\/(\d+)-[^/]*$/.exec(found?.path ?? '')?.[1]
  return String(number === undefined ? 0 : Number(number) + 1).padStart(5, '0')
}

async function tableNamed(Name: string, { glue, database: DatabaseName }: GlueTablesDeps): Promise<Table | null> {
  return await callAws({ what: `read the table ${DatabaseName}.${Name} in Glue` }, async () => {
    try {
      const { Table = null } = await glue.send(new GetTableCommand({ DatabaseName, Name }))
      return Table
    } catch (error) {
      if (error instanceof EntityNotFoundException) return null
      throw error
    }
  })
}

/** What Glue says when another was faster: to make the table, or to change it. */
const lostErrors = ['AlreadyExistsException', 'ConcurrentModificationException', 'VersionMismatchException']

type Move = { TableInput: TableInput; found: FoundTable | null; signal: AbortSignal }

async function moved(
  name: string,
  { TableInput, found, signal }: Move,
  { glue, database: DatabaseName }: GlueTablesDeps,
): Promise<boolean> {
  return await callAws({ what: `commit to the table ${DatabaseName}.${name} in Glue`, signal }, async () => {
    signal.throwIfAborted()
    try {
      // Glue's own archive of versions would grow for ever; old metadata is named in the metadata itself.
      if (found)
        await glue.send(
          new UpdateTableCommand({ DatabaseName, TableInput, VersionId: found.version, SkipArchive: true }),
        )
      else await glue.send(new CreateTableCommand({ DatabaseName, TableInput }))
      return true
    } catch (error) {
      if (error instanceof Error && lostErrors.includes(error.name)) return false
      throw error
    }
  })
}

const glueTypes: Readonly<Record<string, string>> = { long: 'bigint', timestamptz: 'timestamp' }
/** Glue takes so many characters of a comment. */
const commentLength = 255

function inputOf(
  Name: string,
  metadata: TableMetadata,
  { location, previous }: { location: string; previous: string | undefined },
): TableInput {
  const Columns = schemaOf(metadata).fields.map(({ id, name, type, doc = '' }): Column => {
    const Parameters = {
      'iceberg.field.id': String(id),
      'iceberg.field.optional': 'true',
      'iceberg.field.current': 'true',
    }
    return { Name: name, Type: glueTypes[type] ?? type, Comment: doc.slice(0, commentLength), Parameters }
  })
  return {
    Name,
    Description: metadata.properties.comment ?? '',
    TableType: 'EXTERNAL_TABLE',
    Parameters: {
      EXTERNAL: 'TRUE',
      table_type: 'ICEBERG',
      metadata_location: location,
      ...(previous === undefined ? {} : { previous_metadata_location: previous }),
    },
    StorageDescriptor: { Columns, Location: metadata.location },
  }
}

function foreign(name: string, { database, address }: GlueTablesDeps) {
  return new FatalError(
    `The table ${database}.${name} in Glue is no Iceberg table of ${address}: someone else made it. Remove or rename it, and ` +
      'the next publish makes its own.',
    { code: 'configuration' },
  )
}
