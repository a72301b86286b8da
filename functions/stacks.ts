import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'

/**
 * Each bundle begins with this file, so that stacks tell the lines of the source. Node's own --enable-source-maps reads the
 * map of a bundle at each start, which is a ninth of its CPU; here it is read for the first stack that anyone looks at.
 */
Error.prepareStackTrace = (error, frames) =>
  [headOf(error), ...frames.map((frame) => `    at ${inSource(frame)}`)].join('\n')

/** What Node has it begin with, whatever the error's class says of itself: who asks for a stack gets one, and no other error. */
function headOf(error: unknown): string {
  try {
    return Error.prototype.toString.call(error)
  } catch {
    return 'Error'
  }
}

const maps = new Map<string, SourceMap | null>()

function inSource(frame: NodeJS.CallSite): string {
  const [file, line, column] = [frame.getFileName(), frame.getLineNumber(), frame.getColumnNumber()]
  const origin = file && line && column && mapOf(file)?.findOrigin(line, column)
  if (!origin || !('lineNumber' in origin)) return String(frame)
  const { fileName, lineNumber, columnNumber } = origin
  return String(frame).replace(`${file}:${line}:${column}`, `${fileName}:${lineNumber}:${columnNumber}`)
}

/** The map beside a file; null when it has none. */
function mapOf(file: string): SourceMap | null {
  const path = `${file}.map`
  if (!maps.has(file)) maps.set(file, existsSync(path) ? readMap(path) : null)
  return maps.get(file) ?? null
}

/** One that is cut off costs the lines of the source, and no stack. */
function readMap(path: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return null
  }
}
