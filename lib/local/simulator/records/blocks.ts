import { hash32, pick, unit } from '../random.ts'

const texts = [
  'Please fix the failing test.',
  'I read the module and found the cause: the retry never stops when the server answers with an empty page.',
  'exit code 0',
  'Done: all tests pass. ✓',
  'Can you explain what the parser does with a line that has no end?',
  '## Plan\n1. Reproduce it.\n2. Mend the parser.\n3. Add a test — ein Fall für Übersetzung.',
] as const
const tools = ['read', 'edit', 'execute', 'glob'] as const
const paths = ['README.md', 'src/login.ts', 'apps/api/search.py', 'notes/plan.md'] as const

/** Bytes that look like a picture, of which each image takes a part. */
const picture = Buffer.alloc(3_072)
picture.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
for (let at = 8; at < picture.length; at += 1) picture[at] = hash32(0x1ca6e, at) & 255
const pictures = [300, 900, 3_072].map((size) => picture.subarray(0, size).toString('base64'))

/** What draws the blocks of a message: its session's draw, its place, its role, and how often it was written. */
export type BlockDraw = { key: number; index: number; role: string; edition: number }

/** The content of a message (§2.4). Types other than text are "not shown": those that agents are known to use stand for them. */
export function contentOf(draw: BlockDraw): unknown[] {
  const { key, index, role, edition } = draw
  const has = (salt: number, share: number) => unit(key, salt, index) < share
  const text = textBlock(draw)
  const call = `t${index}`
  if (role === 'tool') {
    return [{ type: 'tool_result', toolUseId: `t${index - 1}`, isError: has(23, 0.1), content: [text] }]
  }
  if (role === 'user') {
    const image = has(24, 0.08) ? [imageBlock(hash32(key, 25, index))] : []
    return has(26, 0.04) ? [text, ...image, fileBlock(index)] : [text, ...image]
  }
  if (role !== 'assistant') return [text]
  const thinking = { type: 'thinking', thinking: 'First the test, then the code.', signature: 'c2lnbmF0dXJl' }
  const use = { type: 'tool_use', id: call, name: pick(tools, hash32(key, 27, index)), input: inputOf(draw) }
  return [
    ...(has(28, 0.25) ? [{ ...thinking, signatureProvider: 'vendor-a' }] : []),
    text,
    ...(has(22, 0.4) ? [use] : []),
  ].map((block) => (edition > 0 && block === text ? { ...text, text: `${text.text} (edited ${edition})` } : block))
}

function textBlock({ key, index, role, edition }: BlockDraw): { type: string; text: string; id?: string } {
  const text = pick(texts, hash32(key, 20, index))
  return {
    type: 'text',
    text: edition > 0 && role !== 'assistant' ? `${text} (edited ${edition})` : text,
    ...(unit(key, 21, index) < 0.7 ? { id: `b${index}` } : {}),
  }
}

function inputOf({ key, index }: BlockDraw): object {
  const path = pick(paths, hash32(key, 29, index))
  return unit(key, 30, index) < 0.5 ? { path } : { command: `npm test -- ${path}`, timeoutMs: 60_000 }
}

function imageBlock(draw: number): object {
  return { type: 'image', source: { type: 'base64', mediaType: 'image/png', data: pick(pictures, draw) } }
}

function fileBlock(index: number): object {
  const text = `line ${index}\n`.repeat(20)
  const data = Buffer.from(text).toString('base64')
  const name = `notes-${index}.txt`
  return { type: 'file', file: { type: 'base64', mediaType: 'text/plain', data, parsedData: text, name } }
}

/** Contents of forms that §2.4 does not foresee, and a client must live with. */
export function oddContentOf({ key, index }: Pick<BlockDraw, 'key' | 'index'>): unknown {
  return pick(
    [null, 'a text instead of a list', [], ['a text instead of a block', null], [{ type: 'text', text: 5 }], {}],
    hash32(key, 31, index),
  )
}
