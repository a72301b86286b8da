import { describe, expect, it } from 'vitest'
import { decodeAvro, encodeAvro } from '../../../lib/publish/iceberg/avro.ts'
import { manifestListSchema, manifestSchema } from '../../../lib/publish/iceberg/manifest-schemas.ts'
import { encodeManifest, encodeManifestList } from '../../../lib/publish/iceberg/manifests.ts'
import { currentSpecOf, emptyTable, schemaOf } from '../../../lib/publish/iceberg/metadata.ts'
import { decodeValue, encodeValue } from '../../../lib/publish/iceberg/values.ts'
import { organizationUsers } from '../../../lib/streams/organization-users.ts'
import { compareCells } from '../../../lib/streams/row-order.ts'

const table = emptyTable(organizationUsers.tables[0], { uuid: 'u', location: 'x', byDay: true, now: 1 })
const [schema, spec] = [schemaOf(table), currentSpecOf(table)]

/** Every named field of an Avro schema, however deep, with what stands on it. */
function fieldsIn(node: unknown): Record<string, unknown>[] {
  if (typeof node !== 'object' || node === null) return []
  const own = 'name' in node && 'type' in node && !('fields' in node) ? [node as Record<string, unknown>] : []
  return [...own, ...Object.values(node).flatMap(fieldsIn)]
}

describe('an Avro file', () => {
  it('carries the field ids of Iceberg in its header, which readers find fields by', () => {
    const bytes = Buffer.from(encodeManifest([], { schema, spec }))
    const text = bytes.toString('latin1')
    expect(text).toContain(JSON.stringify(manifestSchema(spec)))
    for (const avro of [manifestSchema(spec), manifestListSchema]) {
      const fields = fieldsIn(avro)
      expect(fields.length).toBeGreaterThan(15)
      expect(fields.filter((field) => typeof field['field-id'] !== 'number')).toEqual([])
      expect(new Set(fields.map((field) => field['field-id'])).size).toBe(fields.length)
    }
  })

  it('says in its header what the specification asks for', () => {
    expect(decodeAvro(encodeManifest([], { schema, spec }), '').header).toEqual({
      ...{ 'schema-id': '0', 'partition-spec-id': '0', 'format-version': '2', content: 'data' },
      schema: JSON.stringify(schema),
      'partition-spec': JSON.stringify(spec.fields),
    })
    const commit = { snapshotId: 2 ** 52 + 1, parentId: null, sequence: 3 }
    expect(decodeAvro(encodeManifestList([], commit), '').header).toEqual({
      ...{
        'snapshot-id': '4503599627370497',
        'parent-snapshot-id': 'null',
        'sequence-number': '3',
        'format-version': '2',
      },
    })
  })

  it('that is cut off or none at all is an error that names it', () => {
    const bytes = encodeAvro(
      { type: 'record', name: 'r', fields: [{ name: 'a', type: 'string' }] },
      { header: {}, records: [{ a: 'x' }] },
    )
    for (const broken of [bytes.slice(0, -20), new Uint8Array(), Buffer.from('{"no":"avro"}')]) {
      expect(() => decodeAvro(broken, 'm0.avro')).toThrow("m0.avro can't be read as an Avro file")
    }
  })
})

describe('a value in a bound', () => {
  it('is what it was, and texts go by their UTF-8 bytes', () => {
    expect(decodeValue(encodeValue(-3, 'int64'), 'int64')).toBe(-3)
    expect(decodeValue(encodeValue(1_700_000_000_123, 'timestamp'), 'timestamp')).toBe(1_700_000_000_123)
    expect(encodeValue(1, 'timestamp').readBigInt64LE()).toBe(1000n)
    expect(decodeValue(encodeValue(1.5, 'double'), 'double')).toBe(1.5)
    expect(decodeValue(encodeValue(true, 'boolean'), 'boolean')).toBe(true)
    const texts = ['', 'Z', 'a', 'ab', 'é', '\u{ffee}', '\u{1f600}', '\u{1f600}a']
    const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(texts.toSorted(compareCells)).toEqual(byBytes)
  })
})
