import { globSync, readFileSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { readEntry } from '../../lib/audit/trail/entry.ts'
import { readFindings } from '../../lib/audit/trail/finding.ts'
import { decodeRevisionIndex } from '../../lib/audit/trail/revision-index.ts'
import { genesis, keyOf, type Link, seal } from '../../lib/audit/trail/sealed.ts'
import { checkPack } from '../../lib/audit/verify/pack.ts'
import { verifyTrail } from '../../lib/audit/verify/verify.ts'
import { ofKnownForm } from '../../lib/core/form.ts'
import { makePlan, parsePlan } from '../../lib/limits/intake/plan.ts'
import { createDynamoHead } from '../../lib/stores/audit-head.ts'
import { createCheckpoints } from '../../lib/stores/checkpoints.ts'
import { readManifest } from '../../lib/stores/file-lists.ts'
import { readFailure, readJournal, readLog, readOutcome, readState } from '../../lib/stores/ledger-format.ts'
import { createPolicyStore } from '../../lib/stores/policy-store.ts'
import { createPublications } from '../../lib/stores/publications.ts'
import { createSharedRates } from '../../lib/stores/rates.ts'
import { createRuns } from '../../lib/stores/runs.ts'
import { decodeIndex } from '../../lib/sync/index-format.ts'
import { createMemoryObjects } from '../support/memory/objects.ts'
import { useEmulators } from './emulated.ts'

const emulated = useEmulators()
function place() {
  return { dynamodb: emulated().dynamodb, table: emulated().stateTable }
}

/** What a later version left: more than is known here, in a form that says so. */
const later = JSON.stringify({ version: 9, unheardOf: true })
const refusal = /was written by a later version of this software .*Deploy that version again/

/** Puts an item as a later version would, and answers what is there after somebody tried to work with it. */
async function itemAfter(
  [pk, sk]: readonly [string, string],
  attributes: Record<string, { S: string } | { N: string }>,
  work: () => Promise<unknown>,
) {
  const { dynamodb, table: TableName } = place()
  const Key = { pk: { S: pk }, sk: { S: sk } }
  await dynamodb.send(new PutItemCommand({ TableName, Item: { ...Key, fence: { N: '4' }, ...attributes } }))
  const error: unknown = await work().then(
    () => null,
    (thrown: unknown) => thrown,
  )
  const { Item = {} } = await dynamodb.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))
  return { error, item: Item }
}

const claim = { owner: 'a', now: 0, expiresAt: 60 }

describe('what a later version left in the state table is refused and stays as it is', () => {
  it.each([
    ['a checkpoint', ['stream', 'sessions'], 'state', () => createCheckpoints(place()).acquire('sessions', claim)],
    [
      'a checkpoint that is only looked at',
      ['stream', 'users'],
      'state',
      () => createCheckpoints(place()).read('users'),
    ],
    [
      'what the publisher was about to do',
      ['publisher', 'lake'],
      'state',
      () => createPublications(place()).acquire(claim),
    ],
    [
      'the record of a run',
      ['run', '2026-01-01T00:00:00.000Z#r'],
      'record',
      () => createRuns(place()).read({ runId: 'r', scheduledAt: Date.UTC(2026, 0, 1) }),
    ],
  ] as const)('%s', async (...[, key, attribute, work]) => {
    const { error, item } = await itemAfter(key, { [attribute]: { S: later } }, work)
    expect(error).toMatchObject({ code: 'configuration', message: expect.stringMatching(refusal) })
    expect(item[attribute]).toEqual({ S: later })
  })

  it('the head of the audit trail', async () => {
    const attributes = { form: { N: '2' }, version: { N: '7' }, marks: { S: '{}' } }
    const { error, item } = await itemAfter(['audit', 'head'], attributes, () => createDynamoHead(place()).read())
    expect(error).toMatchObject({ code: 'configuration', message: expect.stringMatching(refusal) })
    expect(item).toMatchObject(attributes)
  })

  it.each([
    ['looks at it', () => createSharedRates(place()).look()],
    ['draws from it', () => createSharedRates(place()).draw({ now: 5, lengthMs: 1, queued: false })],
    ['queues for it', () => createSharedRates(place()).draw({ now: 5, lengthMs: 1, queued: true })],
    ['notes a wait', () => noteWait()],
  ])('the rate that all workers share, whoever %s', async (_, work) => {
    const attributes = { version: { N: '2' }, freeAt: { N: '9' }, buckets: { S: '{}' } }
    const { error, item } = await itemAfter(['rate', 'platform'], attributes, work)
    expect(error).toMatchObject({ code: 'configuration', message: expect.stringMatching(refusal) })
    expect(item).toMatchObject(attributes)
  })
})

/** What a worker does that was told to wait: a note that is not taken is followed by a look. */
async function noteWait() {
  const rates = createSharedRates(place())
  if (!(await rates.note({ from: 1, ms: 1_000, inARow: {} }, 0))) await rates.look()
}

describe('what a later version left in the audit trail is refused, and taken neither for altered nor for missing', () => {
  const link = { version: 2, sequence: 1, previousHash: genesis, recordedAt: '2026-01-01T00:00:00.000Z', revision: 7 }
  const later = seal(link as unknown as Link).bytes

  it('where an entry or a finding is read', async () => {
    expect(() => readEntry(later)).toThrow(refusal)
    const findings = readFindings(async () => later, { first: 1, last: 1 })
    await expect(findings.next()).rejects.toThrow(refusal)
  })

  it.each(['entries', 'findings', 'digests'] as const)('where %s are verified', async (chain) => {
    const own = { entries: 'recordedAt', findings: 'observedAt', digests: 'writtenAt' }[chain]
    const { recordedAt, ...rest } = link
    const objects = createMemoryObjects()
    await objects.put(keyOf(chain, 1), seal({ ...rest, [own]: recordedAt } as unknown as Link).bytes)
    await expect(verifyTrail(objects)).rejects.toThrow(refusal)
  })

  it('which a forged one does not hide behind: it follows from nothing', async () => {
    const objects = createMemoryObjects()
    const forged = seal({ ...link, previousHash: 'f'.repeat(64) } as unknown as Link).bytes
    await objects.put(keyOf('entries', 1), forged)
    expect((await verifyTrail(objects)).faults).toContainEqual(expect.objectContaining({ kind: 'fork' }))
  })

  it('in its index, which says how to do without', () => {
    const packed = zstdCompressSync(JSON.stringify({ version: 2, entries: { sequence: 1 } }))
    expect(() => decodeRevisionIndex(packed)).toThrow(/later version .*remove index\/audit\/revisions\.json\.zst/)
    expect(decodeRevisionIndex(Buffer.from('damaged'))).toBeNull()
  })

  it('in an evidence pack', async () => {
    const objects = createMemoryObjects()
    await objects.put('manifest.json', Buffer.from(JSON.stringify({ version: 2, parts: [] })))
    await expect(checkPack(objects, {})).rejects.toThrow(refusal)
  })
})

describe('what a later version left as an object is refused and stays as it is', () => {
  it.each([
    ['a manifest', 'manifests/run=r.json', (objects) => readManifest(objects, 'manifests/run=r.json')],
    ['the memory of a policy', 'policy-plans/memory.json', (objects) => createPolicyStore(objects).memory()],
    ['the newest plan of a policy', 'policy-plans/newest.json', (objects) => createPolicyStore(objects).newest()],
    ['an approval', 'policy-approvals/p.json', (objects) => createPolicyStore(objects).approval('p')],
  ] satisfies [string, string, (objects: ReturnType<typeof createMemoryObjects>) => Promise<unknown>][])(
    '%s',
    async (_, key, read) => {
      const objects = createMemoryObjects()
      await objects.put(key, Buffer.from(later))
      await expect(read(objects)).rejects.toThrow(refusal)
      expect(Buffer.from((await objects.get(key))!).toString()).toBe(later)
    },
  )

  it('an index, which is not taken for a damaged one', () => {
    expect(() => decodeIndex(Buffer.from('API3 and whatever follows'))).toThrow(/written by a later version .*reset/)
  })
})

describe('what a later version left in the ledger is refused', () => {
  it.each([
    ['a state', readState],
    ['an outcome', readOutcome],
    ['the reason of a failure', readFailure],
    ['a part of the log', readLog],
    ['the journal', readJournal],
  ] satisfies [string, (text: string) => unknown][])('%s', (_, read) => {
    expect(() => read(later)).toThrow(refusal)
  })

  it('a plan on its way through the inbox or a folder', () => {
    const rules = { maxLimit: 10, maxChanges: 10 }
    const file = { rows: [], invalid: [], aboveMaximum: [] }
    const plan = makePlan({ source: 'a.csv', file, states: new Map(), knownUsers: null, rules, sendsAll: false })
    expect(parsePlan(JSON.stringify(plan))).toEqual(plan)
    expect(() => parsePlan(JSON.stringify({ ...plan, version: 2 }))).toThrow(refusal)
  })
})

describe('a form', () => {
  it('has its line in the page on upgrading, wherever one is refused', () => {
    const asks = (file: string) => /ofKnownForm\(|unknownForm\(|laterForm\(/.test(readFileSync(file, 'utf8'))
    const refusing = globSync('lib/**/*.ts').filter((file) => asks(file) && file !== 'lib/core/form.ts')
    const table = readFileSync('docs/operations.md', 'utf8').matchAll(/^\| .* \| `(lib\/\S+)` \|$/gm)
    expect([...table].map(([, file]) => file).sort()).toEqual(refusing.sort())
  })

  it('is the first where nothing names one, and known up to the newest', () => {
    for (const kept of [{}, { version: 1 }, null, 'text', [1]]) expect(ofKnownForm(kept, { what: 'x' })).toBe(kept)
    expect(ofKnownForm({ version: 2 }, { what: 'x', newest: 2 })).toEqual({ version: 2 })
    expect(() => ofKnownForm({ version: 3 }, { what: 'x', newest: 2, goBack: 'do y' })).toThrow(
      'The x was written by a later version of this software (form 3; form 2 is known here). Deploy that version again; to go back for good, do y.',
    )
  })
})
