import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A child process of the benchmark: asked once, it answers once and lives until it is stopped. */
export type Served<A> = { answer: A; stop(): Promise<void> }

/** Starts a file of this folder, with Node's options for it, and asks it. @throws Error when it ends before it has answered. */
export async function serve<A>(file: string, question: unknown, execArgv: string[] = []): Promise<Served<A>> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: 'advanced', execArgv })
  child.send({ question })
  const answer = await new Promise<A>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { answer: A }).answer))
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code} before it answered`)))
  })
  return { answer, stop: () => stopped(child) }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  await ended
}

/** Asks a file of this folder and stops it when it has answered. */
export async function ask<A>(file: string, question: unknown, execArgv?: string[]): Promise<A> {
  const { answer, stop } = await serve<A>(file, question, execArgv)
  await stop()
  return answer
}

/** The other side of `serve`: answers the one question that this process is asked. */
export function answering<Q, A>(respond: (question: Q) => Promise<A>): void {
  process.once('message', async (message) => {
    process.send?.({ answer: await respond((message as { question: Q }).question) })
  })
}
