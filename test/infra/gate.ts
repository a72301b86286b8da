import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Guard } from './guard.ts'
import { type AwsRequest, askedOf, rightsFor, rightToMiss, signerOf } from './required-rights.ts'
import type { StandIns } from './stand-ins.ts'

/** What an account is asked through: it lets no function do what its role does not allow. */
export type Gate = {
  url: string
  /** What was refused, in words. */
  refusals: readonly string[]
  close(): void
}

type Behind = {
  guard: Guard
  /** The address of the emulators of S3, DynamoDB and SQS. */
  emulators: string
  /** All other services. */
  standIns: StandIns
}

const emulated = ['s3', 'dynamodb', 'sqs']

/** Opens the gate of an account on a port of the loopback interface. */
export async function openGate(behind: Behind): Promise<Gate> {
  const refusals: string[] = []
  const agent = new Agent({ keepAlive: true })
  const server = createServer(async (incoming, response) => {
    try {
      const refusal = await answer(await wholeOf(incoming), response, { ...behind, agent })
      if (refusal !== null) refusals.push(refusal)
    } catch (error) {
      // Who hung up, as a worker does whose lease ran out, waits for no answer.
      if (!incoming.readableAborted) refusals.push(String(error))
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refusals,
    close: () => {
      server.closeAllConnections()
      server.close()
      agent.destroy()
    },
  }
}

type Answering = Behind & { agent: Agent }

/** Answers a request, and says why when it was refused. */
async function answer(
  request: AwsRequest,
  response: ServerResponse,
  { guard, emulators, standIns, agent }: Answering,
): Promise<string | null> {
  const { signer, service } = signerOf(request.headers)
  const rights = rightsFor(request)
  const refusal = guard.refusalOf(signer, rights)
  if (refusal !== null) return denyAccess(response, service, refusal)
  if (!emulated.includes(service)) return reply(response, standIns(askedOf(request)))
  const found = await forward(request, emulators, agent)
  const [right] = rights
  if (found.statusCode === 404 && right?.action === 's3:GetObject') {
    const missing = guard.refusalOf(signer, [rightToMiss(right)])
    const why = `${missing}: S3 would not say that ${right.resource} is missing`
    if (missing !== null) return denyAccess(response, service, why)
  }
  response.writeHead(found.statusCode ?? 500, found.headers)
  found.pipe(response)
  return null
}

async function wholeOf(incoming: IncomingMessage): Promise<AwsRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const { method = '', url = '', headers } = incoming
  return { method, url, headers, body: Buffer.concat(chunks) }
}

function forward({ method, url, headers, body }: AwsRequest, to: string, agent: Agent): Promise<IncomingMessage> {
  // The body is here already: nobody waits to be asked for it.
  const { expect: _, ...others } = headers
  return new Promise((resolve, reject) => {
    send(new URL(url, to), { method, headers: others, agent }, resolve).once('error', reject).end(body)
  })
}

function reply(response: ServerResponse, answer: object): null {
  response.writeHead('__type' in answer ? 400 : 200, { 'content-type': 'application/x-amz-json-1.1' })
  response.end(JSON.stringify(answer))
  return null
}

/** As AWS does it: in XML for S3, and in JSON for all others. */
function denyAccess(response: ServerResponse, service: string, message: string): string {
  if (service === 's3') {
    response.writeHead(403, { 'content-type': 'application/xml' })
    response.end(`<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>${message}</Message></Error>`)
  } else reply(response, { __type: 'AccessDeniedException', message })
  return message
}
