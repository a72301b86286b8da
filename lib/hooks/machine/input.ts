import type { Readable } from 'node:stream'
import { machineLimits } from './event.ts'

/** The longest time in which an agent hands over an event. */
export const inputMs = 1_000

/**
 * Reads what stands on standard input until its end, or as far as it came within a time. A text that is too long is read
 * to its end all the same, so that the agent never writes into a closed pipe.
 * @returns null when it is longer than can be kept.
 */
export async function readInput(stream: Readable, timeoutMs = inputMs): Promise<string | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  const ended = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= machineLimits.readBytes) chunks.push(chunk)
    })
    stream.on('end', resolve)
    stream.on('error', resolve)
    setTimeout(resolve, timeoutMs)
  })
  await ended
  return bytes > machineLimits.readBytes ? null : Buffer.concat(chunks).toString('utf8')
}
