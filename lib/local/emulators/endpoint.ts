import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'

const fileName = 'endpoint.json'
const Endpoint = z.object({ url: z.string() })

/** Says beside the state of a folder where the process that has its lock answers, for those who only look. */
export function writeAddress(folder: string, url: string): void {
  writeFileSync(join(folder, fileName), `${JSON.stringify({ url })}\n`)
}

/** Takes back what this process, or one that was killed, said. Only who has the folder's lock may. */
export function removeAddress(folder: string): void {
  rmSync(join(folder, fileName), { force: true })
}

/** Where the process that has a folder's lock answers; null while it does not say. */
export function addressIn(folder: string): string | null {
  try {
    return Endpoint.parse(JSON.parse(readFileSync(join(folder, fileName), 'utf8'))).url
  } catch {
    return null
  }
}
