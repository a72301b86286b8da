// Stands in for the Lambda runtime: one handler, one event per line on standard input, one answer per line on fd 3.
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

const answers = createWriteStream('', { fd: 3 })
const { handler } = await import('./index.js')
for await (const line of createInterface({ input: process.stdin })) {
  const { event, looks } = JSON.parse(line)
  let left = looks
  // Time gets short after so many looks at it (two a page), so that a test decides where an attempt ends, not the machine.
  const getRemainingTimeInMillis = () => (left-- > 0 ? 600_000 : 4_000)
  const context = { functionName: 'f', awsRequestId: 'r', getRemainingTimeInMillis }
  try {
    answers.write(`${JSON.stringify({ result: await handler(event, context) })}\n`)
  } catch (error) {
    answers.write(`${JSON.stringify({ error: String(error), stack: error.stack })}\n`)
  }
}
process.exit(0)
