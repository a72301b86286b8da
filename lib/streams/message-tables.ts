import * as z from 'zod'
import { isPlainObject } from '../core/canonical-json.ts'
import type { Json } from '../core/json.ts'
import { once } from '../core/once.ts'
import { attachmentsIn, lengthOf } from '../core/stand-ins.ts'
import { id, resource } from '../platform/fields.ts'
import { ContentBlock, Message, messageRoles } from '../platform/schemas/message.ts'
import { columnAt, columnsFrom } from './columns.ts'
import { keyParts } from './keys.ts'
import { kindOf, leafOf } from './leaves.ts'
import { fieldAt } from './schema-layers.ts'
import { recordTable } from './schema-tables.ts'
import type { Writing } from './stream.ts'
import {
  type Cell,
  type Column,
  type Misfit,
  type Table,
  type TableReading,
  type TableRow,
  tableOnDemand,
} from './table.ts'
import { listFrom, objectFrom, visitOf } from './visit.ts'

/** A message with the session that it belongs to, which the list of a session's messages does not repeat. */
export const SessionMessage = resource(() => ({
  sessionId: id().describe('Id of the session; joins sessions.session_id (§2.2).'),
  ...Message.shape,
  // Blocks are looked at one by one, so that an odd one costs itself.
  content: z.array(z.unknown()).describe('Content blocks in their order (§2.4).'),
}))

/**
 * Where people and models write in a message: in its content and wherever else no fact stands. Reasoning, its signature
 * and what the vendor encrypted are writing, too.
 */
export const messageWriting: Writing = {
  role: 'role',
  roles: messageRoles,
  ids: ['sessionId', 'id'],
  facts: [
    ...['createdAt', 'updatedAt', 'parentId', 'visibility', 'isUserVisible', 'isError'],
    ...['vendorMessageId', 'vendorPhase', 'vendorReasoningId', 'chatCompletionReasoningField'],
  ],
}

function column(name: string, type: Column['type'], doc: string): Column {
  return { name, type, doc }
}

const units = 'in UTF-16 code units (an emoji counts as two)'
const sums = [
  column('text', 'string', 'Texts of the blocks of type text, joined by line breaks; null when there is none.'),
  column('text_length', 'int64', `Length of these texts before they were hashed, ${units}.`),
  column('blocks', 'int64', 'Number of content blocks; null when the content is no list.'),
  column('other_blocks', 'int64', 'Number of blocks of other types than text, those without a readable type included.'),
  column('other_bytes', 'int64', 'Size of these blocks as they are kept: bytes of JSON in UTF-8.'),
  column('attachments', 'int64', 'Number of images and files in the blocks whose contents were replaced.'),
  column('attachment_bytes', 'int64', 'Size of these contents, bytes.'),
] as const

const messages = recordTable(SessionMessage, {
  name: 'session_messages',
  doc: 'Messages of sessions: one row per message, with the text of its text blocks.',
  key: ['session_id', 'message_id'],
  fields: { id: { column: 'message_id' }, content: 'left_out' },
})

/** Messages: the fields of the message, then what its blocks come to. */
const sessionMessages = tableOnDemand(messages, () => ({
  columns: [...messages.columns, ...sums],
  read: (record, key) => {
    const reading = messages.read(record, key)
    const [row] = reading.rows as [TableRow]
    const cells = row.cells.slice(0, messages.columns.length).concat(sumsOf(contentOf(record)))
    return { ...reading, rows: [{ ...row, cells }] }
  },
}))

function contentOf(record: Json): Json | undefined {
  return isPlainObject(record) ? record.content : undefined
}

function sumsOf(content: Json | undefined): Cell[] {
  const blocks = content === undefined ? undefined : listFrom(content)
  if (blocks === undefined) return sums.map(() => null)
  const texts = blocks.map(textOf).filter((text) => text !== undefined)
  const others = blocks.filter((block) => !isText(block))
  const attachments = blocks.flatMap((block) => attachmentsOf(block))
  return [
    texts.length === 0 ? null : texts.join('\n'),
    texts.reduce((sum, text) => sum + lengthOf(text), 0),
    blocks.length,
    others.length,
    others.reduce<number>((sum, block) => sum + sizeOf(block), 0),
    attachments.length,
    attachments.reduce((sum, { bytes }) => sum + bytes, 0),
  ]
}

function isText(block: Json): block is { [key: string]: Json } {
  return isPlainObject(block) && block.type === 'text'
}

/** The text of a text block; undefined for any other. */
function textOf(block: Json): string | undefined {
  return isText(block) && typeof block.text === 'string' ? block.text : undefined
}

function sizeOf(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** All attachments of a block, at whatever depth. */
function attachmentsOf(value: Json): ReturnType<typeof attachmentsIn> {
  if (typeof value === 'string') return attachmentsIn(value)
  if (Array.isArray(value)) return value.flatMap(attachmentsOf)
  return isPlainObject(value) ? Object.values(value).flatMap(attachmentsOf) : []
}

/** What the schemas say of a block's row: columns of its message and how they are read, its own, and how a block is visited. */
const layout = once(() => {
  const parents = [
    columnAt(SessionMessage, 'sessionId'),
    columnAt(SessionMessage, 'id', { name: 'message_id' }),
    columnAt(SessionMessage, 'role'),
    columnAt(SessionMessage, 'createdAt'),
  ] as const
  const parentReads = parents.map(({ path }) => ({ path, read: leafOf(fieldAt(SessionMessage, path))!.read }))
  const own = columnsFrom(ContentBlock, { id: { column: 'block_id' } })
  return { parents, parentReads, own, visit: visitOf(ContentBlock, new Map(own.map(({ path }, i) => [path, i]))) }
})

const measures = [
  column('text_length', 'int64', `Length of the text before it was hashed, ${units}.`),
  column('bytes', 'int64', 'Size of the block as it is kept: bytes of JSON in UTF-8.'),
  column('attachments', 'int64', 'Number of images and files in the block whose contents were replaced.'),
  column('attachment_type', 'string', 'Media type of the first of them; unknown where nothing tells it.'),
  column('attachment_bytes', 'int64', 'Size of their contents, bytes.'),
  column('attachment_sha256', 'string', 'SHA-256 over the contents of the first of them, hex.'),
  column('body', 'json', 'The whole block, of any type but text: other types are "not shown" (§2.4).'),
] as const

/** Content blocks. A block that is no object costs its row, as an element of any nested table does. */
const messageBlocks = tableOnDemand(
  {
    name: 'message_blocks',
    doc: 'Content blocks of messages: one row per message and block.',
    key: ['session_id', 'message_id', 'position'],
  },
  () => {
    const [sessionId, messageId, role, createdAt] = layout().parents
    const columns = [
      ...[sessionId, messageId],
      column('position', 'int64', "Place in the message's list of blocks, from 0."),
      ...[...layout().own, ...measures, role, createdAt],
    ]
    return { columns, read: blockRows }
  },
)

function blockRows(record: Json, key?: string): TableReading {
  const content = contentOf(record)
  const blocks = content === undefined || content === null ? undefined : listFrom(content)
  if (blocks === undefined)
    return { rows: [], misfits: isPlainObject(record) ? [whyNoList(content)] : [], drifted: false }
  return readBlocks(blocks, parentCells(record as { [key: string]: Json }, key))
}

function whyNoList(content: Json | undefined): Misfit {
  const reason =
    content === undefined ? 'is missing' : content === null ? 'is null' : `is ${kindOf(content)}, not a list`
  return { field: 'content', counted: 'content', reason, value: content ?? null }
}

function parentCells(record: { [key: string]: Json }, key: string | undefined): Cell[] {
  const keys = key === undefined ? [] : keyParts(key, 2)
  return layout().parentReads.map(({ path, read }, at) => {
    if (at < keys.length) return keys[at] as string
    const value = record[path]
    return value === undefined || value === null ? null : (read(value) ?? null)
  })
}

function readBlocks(blocks: readonly Json[], [session, message, ...copied]: Cell[]): TableReading {
  const rows: TableRow[] = []
  const misfits: Misfit[] = []
  let drifted = false
  for (const [position, value] of blocks.entries()) {
    const field = `content[${position}]`
    const block = objectFrom(value)
    if (block === undefined) {
      misfits.push({ field, counted: 'content[]', reason: `is ${kindOf(value)}, not an object`, value })
      continue
    }
    const row = readBlock(block)
    drifted ||= row.drifted
    rows.push({ ...row, cells: [session as Cell, message as Cell, position, ...row.cells, ...copied] })
    for (const each of row.misfits) {
      misfits.push({ ...each, field: `${field}.${each.field}`, counted: `content[].${each.counted}` })
    }
  }
  return { rows, misfits, drifted }
}

/** A block without its parent. Nothing is known of other types than text, so what is in them is no drift. */
function readBlock(block: { [key: string]: Json }): TableRow & { drifted: boolean } {
  const { own, visit } = layout()
  const row = { cells: own.map((): Cell => null), misfits: [] as Misfit[], drifted: false }
  const isKnown = isText(block)
  const extra = visit(isKnown ? block : foreseen(block), row)
  const attachments = attachmentsOf(block)
  const text = typeof block.text === 'string' ? block.text : null
  row.cells.push(
    text === null ? null : lengthOf(text),
    sizeOf(block),
    attachments.length,
    attachments[0]?.mediaType ?? null,
    attachments.reduce((sum, { bytes }) => sum + bytes, 0),
    attachments[0]?.sha256 ?? null,
    isKnown ? null : JSON.stringify(block),
  )
  return { ...row, extra: (extra as TableRow['extra'] | undefined) ?? null }
}

/** The fields of a block of another type that are as those of a text block; its type is judged as it is. */
function foreseen(block: { [key: string]: Json }): { [key: string]: Json } {
  const entries = ['type', 'text', 'id'].filter((name) => Object.hasOwn(block, name)).map((name) => [name, block[name]])
  return Object.fromEntries(entries.filter(([name, value]) => name === 'type' || typeof value === 'string'))
}

/** The tables of the messages of sessions, the main one first. */
export const messageTables = [sessionMessages, messageBlocks] as const satisfies readonly [Table, ...Table[]]
