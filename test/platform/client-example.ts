import { readFileSync } from 'node:fs'
import { createPlatformClient, FatalError, RejectedError } from 'agent-platform-sync'

const platform = createPlatformClient({
  appUrl: process.env.PLATFORM_APP_URL ?? '',
  baseUrl: process.env.PLATFORM_BASE_URL ?? '',
  credentials: process.env.PLATFORM_API_KEY ?? '',
  requestsPerSecond: 5,
})

/** Starts a session on a computer, gives the agent a PDF to read, and tells what was said. */
export async function review(computerId: string, pdf: string): Promise<string[]> {
  const { sessionId } = await platform.createSession({ computerId, cwd: '/work/shop' })
  const file = {
    type: 'base64',
    mediaType: 'application/pdf',
    data: readFileSync(pdf, 'base64'),
    name: 'order.pdf',
  } as const
  try {
    await platform.addMessage(sessionId, { text: 'Does the code do what this order says?', files: [file] })
  } catch (error) {
    // Refused before or by the platform: the message names the field.
    if (error instanceof RejectedError) return [`not sent: ${error.message}`]
    // The answer was lost. Looking is better than sending twice.
    if (!(error instanceof FatalError) || error.code !== 'outcome_unknown') throw error
  }
  const texts: string[] = []
  for (let cursor: string | undefined, hasMore = true; hasMore; ) {
    const { messages, pagination } = await platform.listMessages(sessionId, { limit: 100, cursor })
    texts.push(...messages.flatMap(({ content }) => content.map(({ text }) => text ?? '')))
    cursor = pagination.nextCursor ?? undefined
    hasMore = pagination.hasMore && cursor !== undefined
  }
  return texts
}
