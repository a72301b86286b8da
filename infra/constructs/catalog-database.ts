import { Aws, Stack } from 'aws-cdk-lib'
import { CfnNamedQuery, CfnWorkGroup } from 'aws-cdk-lib/aws-athena'
import { CfnDatabase, CfnTable } from 'aws-cdk-lib/aws-glue'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import {
  type GlueColumn,
  glueColumns,
  parquetFormat,
  partitionKeys,
  warehouseTables,
} from '../../lib/stores/catalog.ts'
import { runsPrefix, tableLocation } from '../../lib/stores/lake-paths.ts'
import { lakeBucket } from '../../lib/stores/resources.ts'
import { currentName, currentQuery } from '../../lib/streams/current.ts'
import { runsColumns, runsTable } from '../../lib/streams/runs-table.ts'
import type { Stream } from '../../lib/streams/stream.ts'
import { columnsOf, type Table } from '../../lib/streams/table.ts'
import type { Names } from '../names.ts'
import { kept } from '../removal.ts'

/** Where a table's files lie, and what is in them. */
type Storage = { location: string; columns: GlueColumn[]; partitionKeys?: GlueColumn[] }

type Props = { names: Names; key: IKey; streams: readonly Stream[] }

/** What Athena, Redshift Spectrum and others see: a database with one table per warehouse table, and how to ask it. */
export class CatalogDatabase extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    const { names, key, streams } = props
    const database = new CfnDatabase(this, 'Database', {
      catalogId: Aws.ACCOUNT_ID,
      databaseInput: { name: names.database, description: 'Agent Platform data: change logs of its records.' },
    })
    database.overrideLogicalId('CatalogDatabase')
    database.applyRemovalPolicy(kept)
    this.icebergDatabase(names)
    const workgroup = this.workgroup(names, key)
    for (const { stream, table } of warehouseTables(streams)) {
      const glueTable = this.table(table, names)
      glueTable.addResourceDependency(database)
      const view = this.currentView(stream, table, names)
      view.addResourceDependency(workgroup)
    }
    this.runsTable(names).addResourceDependency(database)
  }

  /** Its tables are made and moved by the publisher: a deployment that changed one would point it at old metadata. */
  private icebergDatabase(names: Names): void {
    const database = new CfnDatabase(this, 'IcebergDatabase', {
      catalogId: Aws.ACCOUNT_ID,
      databaseInput: {
        name: names.icebergDatabase,
        description: 'Agent Platform data: change logs and current records as Iceberg tables.',
      },
    })
    database.overrideLogicalId('IcebergDatabase')
    database.applyRemovalPolicy(kept)
  }

  private table(table: Table, names: Names): CfnTable {
    const storage = { location: tableLocation(table.name), columns: glueColumns(columnsOf(table)) }
    return this.parquetTable(table, names, { ...storage, partitionKeys })
  }

  /** A few files that are written anew, and no partitions that anyone would have to register. */
  private runsTable(names: Names): CfnTable {
    return this.parquetTable(runsTable, names, { location: runsPrefix, columns: glueColumns(runsColumns) })
  }

  private parquetTable({ name, doc }: Pick<Table, 'name' | 'doc'>, names: Names, storage: Storage): CfnTable {
    const { location, columns, partitionKeys } = storage
    const logicalId = `${pascalCase(name)}GlueTable`
    const created = new CfnTable(this, logicalId, {
      catalogId: Aws.ACCOUNT_ID,
      databaseName: names.database,
      tableInput: {
        name,
        description: doc,
        tableType: 'EXTERNAL_TABLE',
        parameters: { classification: 'parquet', EXTERNAL: 'TRUE' },
        ...(partitionKeys ? { partitionKeys } : {}),
        storageDescriptor: {
          location: `s3://${names.bucket(lakeBucket)}/${location}`,
          columns,
          inputFormat: parquetFormat.inputFormat,
          outputFormat: parquetFormat.outputFormat,
          serdeInfo: { serializationLibrary: parquetFormat.serializationLibrary },
        },
      },
    })
    created.overrideLogicalId(logicalId)
    created.applyRemovalPolicy(kept)
    return created
  }

  /** Results expire with the lake's old versions; who may read them is who may read the lake. */
  private workgroup(names: Names, key: IKey): CfnWorkGroup {
    return new CfnWorkGroup(this, 'WorkGroup', {
      name: names.workgroup,
      description: 'Queries over the Agent Platform data.',
      workGroupConfiguration: {
        enforceWorkGroupConfiguration: true,
        publishCloudWatchMetricsEnabled: true,
        engineVersion: { selectedEngineVersion: 'Athena engine version 3' },
        resultConfiguration: {
          outputLocation: `s3://${names.bucket(lakeBucket)}/query-results/`,
          encryptionConfiguration: { encryptionOption: 'SSE_KMS', kmsKey: key.keyArn },
        },
      },
    })
  }

  private currentView(stream: Stream, table: Table, names: Names): CfnNamedQuery {
    const name = currentName(table)
    return new CfnNamedQuery(this, `${pascalCase(name)}Query`, {
      database: names.database,
      workGroup: names.workgroup,
      name: `${name} (create the view)`,
      description: `${Stack.of(this).stackName}: run it once to have the view ${name}.`,
      queryString: `create or replace view ${name} as\n${currentQuery(stream, table)}`,
    })
  }
}

function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
