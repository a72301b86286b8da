import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { FatalError } from '../../core/errors.ts'
import { type Json, parseJson } from '../../core/json.ts'

/** Records as one object of lines. */
export function packLines(records: readonly Json[]): Promise<Uint8Array> {
  return promisify(gzip)(records.map((record) => `${JSON.stringify(record)}\n`).join(''))
}

/**
 * The records of an object. A line that is no JSON is the text itself, which costs no other line.
 * @throws FatalError `damaged_state` when the object as a whole can't be read.
 */
export async function unpackLines(key: string, bytes: Uint8Array): Promise<Json[]> {
  const text = await promisify(gunzip)(bytes).catch((cause: unknown) => {
    const message = `${key} in the lake bucket can't be unpacked: restore an older version of it, or remove it to do without its events.`
    throw new FatalError(message, { code: 'damaged_state', cause })
  })
  const lines = text.toString().split('\n')
  return lines.filter((line) => line !== '').map(parseLine)
}

function parseLine(line: string): Json {
  try {
    return parseJson(line)
  } catch {
    return line
  }
}
