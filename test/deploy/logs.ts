import { type Account, authorizationFor } from './emulator.ts'

/** How many of the last lines of each function are told. */
const mostLines = 10

/** What is no sign of a failure: lines of Lambda about an invocation, measurements, what went well, and advice of Node. */
const beside = /^(START|END|REPORT) |^\{"_aws":|"level":"(DEBUG|INFO)"|^\(node:|^\(Use `node /

/**
 * What the functions of an installation warned of since a time (ms): the last lines of each, under its name. The emulator
 * keeps what a function wrote when its invocation has ended; what one wrote that never ended is not there.
 */
export async function warningsSince(time: number, account: Account, installation: string): Promise<string[]> {
  const prefix = `/platform-sync/${installation}/`
  const named = { logGroupNamePrefix: prefix }
  const { logGroups } = await ask<{ logGroups: { logGroupName: string }[] }>(account, 'DescribeLogGroups', named)
  const told: string[] = []
  for (const { logGroupName } of logGroups) {
    const asked = { logGroupName, startTime: time }
    const { events } = await ask<{ events: { message: string }[] }>(account, 'FilterLogEvents', asked)
    const lines = events.map(({ message }) => message).filter((message) => !beside.test(message))
    if (lines.length > 0) told.push(`${logGroupName.slice(prefix.length)}:`)
    told.push(...lines.slice(-mostLines).map((line) => `  ${line}`))
  }
  return told
}

async function ask<T>({ endpoint }: Account, action: string, input: object): Promise<T> {
  const headers = {
    authorization: authorizationFor('logs'),
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': `Logs_20140328.${action}`,
  }
  const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(input) })
  const text = await response.text()
  if (!response.ok) throw new Error(`the emulator refuses ${action} with ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as T
}
