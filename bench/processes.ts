import { type ChildProcess, fork } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A child process of the benchmark: asked once, it answers once and lives until it is stopped. */
export type Served<A> = { answer: A; stop(): Promise<void> }

/** Node's options for a process, and variables that it has besides those of this one. */
type Options = { execArgv?: string[]; env?: Record<string, string> }

/** Starts a file of this folder, or a built one, and asks it. @throws Error when it ends before it has answered. */
export async function serve<A>(file: string, question: unknown, options: Options = {}): Promise<Served<A>> {
  const path = isAbsolute(file) ? file : fileURLToPath(new URL(file, import.meta.url))
  const { execArgv = [], env = {} } = options
  const child = fork(path, { serialization: 'advanced', execArgv, env: { ...process.env, ...env } })
  child.send({ question })
  const answer = await new Promise<A>((resolve, reject) => {
    child.once('message', (message) => {
      const { answer, failure } = message as { answer: A; failure?: string }
      if (failure === undefined) resolve(answer)
      else reject(new Error(`${file}: ${failure}`))
    })
    child.once('exit', (code) => reject(new Error(`${file} ended with code ${code} before it answered`)))
  })
  return { answer, stop: () => stopped(child) }
}

/** By its own exit, since only so a process writes its CPU profile. */
async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.send({ stop: true })
  await ended
}

/** Asks a file and stops it when it has answered. */
export async function ask<A>(file: string, question: unknown, options?: Options): Promise<A> {
  const { answer, stop } = await serve<A>(file, question, options)
  await stop()
  return answer
}

/** The other side of `serve`: answers the one question that this process is asked. */
export function answering<Q, A>(respond: (question: Q) => Promise<A>): void {
  process.on('message', async (message) => {
    if ('stop' in (message as object)) process.exit()
    try {
      process.send?.({ answer: await respond((message as { question: Q }).question) })
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? `${error.stack}` : String(error) })
    }
  })
}
