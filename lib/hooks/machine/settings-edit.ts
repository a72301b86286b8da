import { findNodeAtLocation, getNodeValue, type Node, type ParseError, parseTree, stripComments } from 'jsonc-parser'
import { FatalError } from '../../core/errors.ts'
import { parsed } from './event.ts'

/** An entry of the agent's settings that runs a command (§6.1). */
export type HookEntry = { type: 'command'; command: string; timeout: number }
/** Tells our entries from those of others. */
export type IsOurs = (command: string) => boolean

/**
 * Adds a group with an entry to some events. Text is only inserted: what was there stays byte for byte, and what is added
 * follows the indentation around it.
 * @throws FatalError `usage` when the text is no settings file: nothing is changed then.
 */
export function addEntries(text: string, events: readonly string[], entry: HookEntry): string {
  return events.reduce((edited, event) => addEntry(edited, event, entry), text)
}

function addEntry(text: string, event: string, entry: HookEntry): string {
  const root = settingsOf(text)
  const group = { hooks: [entry] }
  const list = findNodeAtLocation(root, ['hooks', event])
  if (list !== undefined) return insertInto(text, list, { root, value: group })
  const hooks = findNodeAtLocation(root, ['hooks'])
  if (hooks !== undefined) return insertInto(text, hooks, { root, name: event, value: [group] })
  return insertInto(text, root, { root, name: 'hooks', value: { [event]: [group] } })
}

/** Takes our entries out, and with them what holds nothing else. @throws FatalError `usage` as above. */
export function removeEntries(text: string, isOurs: IsOurs): string {
  const [found] = entriesIn(settingsOf(text), isOurs)
  if (found === undefined) return text
  return removeEntries(removeNode(text, outermostOf(found.node)), isOurs)
}

/** Lists our entries in a settings file. @throws FatalError `usage` as above. */
export function findEntries(text: string, isOurs: IsOurs): (HookEntry & { event: string })[] {
  return entriesIn(settingsOf(text), isOurs).map(({ node, event }) => ({ ...getNodeValue(node), event }))
}

function entriesIn(root: Node, isOurs: IsOurs): { node: Node; event: string }[] {
  return childrenOf(findNodeAtLocation(root, ['hooks'])).flatMap((property) => {
    const [name, groups] = childrenOf(property)
    const entries = childrenOf(groups).flatMap((group) => childrenOf(findNodeAtLocation(group, ['hooks'])))
    return entries
      .filter((entry) => isOurs(String(findNodeAtLocation(entry, ['command'])?.value)))
      .map((node) => ({ node, event: String(name?.value) }))
  })
}

/** The largest thing that would be empty without an entry: the group, the event, all hooks. */
function outermostOf(entry: Node): Node {
  const isAlone = (node: Node | undefined) => node?.parent?.children?.length === 1
  const group = entry.parent?.parent?.parent
  const event = group?.parent?.parent
  const hooks = event?.parent?.parent
  if (!group || !event || !hooks || !isAlone(entry)) return entry
  if (!isAlone(group)) return group
  return isAlone(event) ? hooks : event
}

function removeNode(text: string, node: Node): string {
  const siblings = childrenOf(node.parent)
  const at = siblings.indexOf(node)
  const [before, after] = [siblings[at - 1], siblings[at + 1]]
  const inside = node.parent as Node
  const from = before ? endOf(before) : after ? node.offset : inside.offset + 1
  const to = before ? endOf(node) : after ? after.offset : endOf(inside) - 1
  return text.slice(0, from) + text.slice(to)
}

type Insertion = { root: Node; name?: string; value: unknown }

/** Inserts a value behind the last child of a list or object. */
function insertInto(text: string, container: Node, { root, name, value }: Insertion): string {
  const last = childrenOf(container).at(-1)
  const gap = last ? gapBefore(text, last) : gapIn(text, container, root)
  const named = name === undefined ? '' : `${JSON.stringify(name)}:${isSpaced(text, root) ? ' ' : ''}`
  const added = `${last ? ',' : ''}${gap}${named}${rendered(value, { gap, unit: unitOf(text, root) })}`
  const at = last ? endOf(last) : container.offset + 1
  const inner = last ? '' : text.slice(at, endOf(container) - 1)
  const closing = last || inner.includes('\n') ? '' : gapAround(text, container, gap)
  return text.slice(0, at) + added + closing + text.slice(at)
}

/** White space as it stands before a child: a line break with its indentation, or what there is on the line. */
function gapBefore(text: string, child: Node): string {
  const [gap = ''] = /\s*$/.exec(text.slice(0, child.offset)) ?? []
  return /\r?\n[ \t]*$/.exec(gap)?.[0] ?? gap
}

/** The same for a container that is empty: on lines of its own if the file is written so. */
function gapIn(text: string, container: Node, root: Node): string {
  if (!hasLines(text, root)) return ''
  return `${lineBreakOf(text)}${indentationAt(text, container)}${unitOf(text, root)}`
}

function gapAround(text: string, container: Node, gap: string): string {
  return gap === '' ? '' : `${lineBreakOf(text)}${indentationAt(text, container)}`
}

function rendered(value: unknown, { gap, unit }: { gap: string; unit: string }): string {
  const [lineBreak] = /\r?\n/.exec(gap) ?? []
  if (lineBreak === undefined) return JSON.stringify(value)
  const indentation = gap.slice(gap.lastIndexOf('\n') + 1)
  return JSON.stringify(value, null, unit).replaceAll('\n', `${lineBreak}${indentation}`)
}

/** Whether members stand on lines of their own; an object without members counts as written so. */
function hasLines(text: string, root: Node): boolean {
  const [first] = childrenOf(root)
  return first === undefined || gapBefore(text, first).includes('\n')
}

function isSpaced(text: string, root: Node): boolean {
  return hasLines(text, root) || /"\s*:\s/.test(text.slice(root.offset, endOf(root)))
}

function unitOf(text: string, root: Node): string {
  const [first] = childrenOf(root)
  const gap = first ? gapBefore(text, first) : ''
  // JSON.stringify takes ten characters at most.
  return gap.slice(gap.lastIndexOf('\n') + 1).slice(0, 10) || '  '
}

function lineBreakOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n'
}

function indentationAt(text: string, { offset }: Node): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''
}

/** Reads a settings file as far as hooks need it. */
function settingsOf(text: string): Node {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: false, allowTrailingComma: false })
  // The parser of editors forgives what other readers of the file would not.
  if (root === undefined || errors.length > 0 || parsed(stripComments(text)) === undefined)
    throw refused('it is not valid JSON')
  if (root.type !== 'object') throw refused('it is no JSON object')
  const hooks = memberOf(root, 'hooks')
  if (hooks === undefined) return root
  if (hooks.type !== 'object') throw refused('its "hooks" is no object')
  for (const property of childrenOf(hooks)) {
    const name = String(childrenOf(property)[0]?.value)
    if (memberOf(hooks, name)?.type !== 'array') throw refused(`its "hooks" has no list for ${name}`)
  }
  return root
}

function memberOf(object: Node, name: string): Node | undefined {
  const found = childrenOf(object).filter((property) => childrenOf(property)[0]?.value === name)
  // Readers differ in which of two they take.
  if (found.length > 1) throw refused(`it has "${name}" twice`)
  return childrenOf(found[0])[1]
}

function refused(why: string) {
  return new FatalError(`The settings file is left as it is, since ${why}. Correct it and try again.`, {
    code: 'usage',
  })
}

function childrenOf(node: Node | undefined): Node[] {
  return node?.children ?? []
}

function endOf({ offset, length }: Node): number {
  return offset + length
}
