import { BatchCreatePartitionCommand, EntityNotFoundException } from '@aws-sdk/client-glue'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Manifest } from '../../lib/publish/manifest.ts'
import { createCatalog, createGlue } from '../../lib/stores/catalog.ts'
import { streams } from '../../lib/streams/index.ts'
import type { PartFile } from '../../lib/sync/checkpoint.ts'
import { Counts } from '../../lib/sync/checkpoint.ts'

// No emulator knows Glue.
const client = createGlue({ region: 'us-east-1' })
const glue = mockClient(client)
const catalog = createCatalog({ glue: client, database: 'acme', bucket: 'lake', streams })

function file(table: string, at: string, kind: PartFile['kind'] = 'changes'): PartFile {
  return {
    kind,
    table,
    key: `${kind}/${table}/${at}.parquet`,
    rows: 1,
    bytes: 1,
    sha256: '',
    schemaVersion: '',
  }
}

function manifest(...files: PartFile[]): Manifest {
  return {
    version: 1,
    runId: 'r',
    publishedAt: '2026-05-01T02:00:00.000Z',
    scans: [
      {
        stream: 'sessions',
        scanId: 's',
        status: 'complete',
        reason: null,
        startedAt: '2026-05-01T02:00:00.000Z',
        completedAt: '2026-05-01T02:00:00.000Z',
        records: 1,
        counts: Counts.parse({}),
        files,
      },
    ],
  }
}

function requests() {
  return glue.commandCalls(BatchCreatePartitionCommand).map(({ args: [{ input }] }) => input)
}
function failure(ErrorCode: string) {
  return {
    Errors: [{ PartitionValues: ['2026-05-01', 'a'], ErrorDetail: { ErrorCode, ErrorMessage: 'as it is' } }],
  }
}

beforeEach(() => {
  glue.reset()
  glue.on(BatchCreatePartitionCommand).resolves({})
})

describe('the catalog', () => {
  it('registers each folder of a manifest once, table by table, and no quarantine', async () => {
    const [first, second] = ['dt=2026-05-01/run=a/00000-1', 'dt=2026-05-01/run=a/00001-1']
    const quarantined = file('sessions', first, 'quarantine')
    await catalog.register(
      manifest(file('sessions', first), file('sessions', second), quarantined, file('computers', first)),
    )
    expect(
      requests().map(({ TableName, PartitionInputList: list }) => [TableName, list?.map(({ Values }) => Values)]),
    ).toEqual([
      ['sessions', [['2026-05-01', 'a']]],
      ['computers', [['2026-05-01', 'a']]],
    ])
    expect(requests()[0]?.PartitionInputList?.[0]?.StorageDescriptor).toMatchObject({
      Location: 's3://lake/changes/sessions/dt=2026-05-01/run=a/',
      SerdeInfo: { SerializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe' },
    })
  })

  it('registers no more than 100 partitions in a call', async () => {
    const files = Array.from({ length: 250 }, (_, i) => file('sessions', `dt=2026-05-01/run=r${i}/00000-1`))
    await catalog.register(manifest(...files))
    expect(requests().map(({ PartitionInputList }) => PartitionInputList?.length)).toEqual([100, 100, 50])
  })

  it('takes a partition that is there already for registered: publish may be repeated', async () => {
    glue.on(BatchCreatePartitionCommand).resolves(failure('AlreadyExistsException'))
    await expect(catalog.register(manifest(file('sessions', 'dt=2026-05-01/run=a/0-1')))).resolves.toBeUndefined()
  })

  it('does not take a 200 with an error inside for registered', async () => {
    glue.on(BatchCreatePartitionCommand).resolves(failure('InternalServiceException'))
    const registering = catalog.register(manifest(file('sessions', 'dt=2026-05-01/run=a/0-1')))
    await expect(registering).rejects.toThrow(
      'the partition 2026-05-01/a of sessions: InternalServiceException as it is',
    )
    await expect(registering).rejects.toMatchObject({ action: 'retry' })
  })

  it('says what to deploy when the table is not there', async () => {
    glue.on(BatchCreatePartitionCommand).rejects(new EntityNotFoundException({ message: 'no table', $metadata: {} }))
    const registering = catalog.register(manifest(file('sessions', 'dt=2026-05-01/run=a/0-1')))
    await expect(registering).rejects.toThrow(
      /partitions of acme.sessions in Glue: no table.*Deploy the stateful stack/,
    )
  })

  it('refuses a file that is in no partition', async () => {
    await expect(catalog.register(manifest(file('sessions', 'somewhere')))).rejects.toThrow('which is in no partition')
  })
})
