import { plain } from './output.ts'

/** A stream and why it did not complete, if it did not. */
type Stated = { stream: string; status: string | null; reason: string | null }

/** One cause, and the streams that it met. */
export type Trouble<S extends Stated> = { streams: string[]; status: S['status']; reason: string }

const request = /^[A-Z]+ \/\S+/

/** The causes among streams, each once: a wrong key meets every stream, with another request each. */
export function troublesOf<S extends Stated>(all: readonly S[]): Trouble<S>[] {
  const troubled = all.filter(({ reason }) => reason !== null)
  const causes = Map.groupBy(troubled, ({ status, reason }) => `${status} ${reason?.replace(request, '')}`)
  return [...causes.values()].map((some) => {
    const { status, reason } = some[0] as S
    const told = plain(reason ?? '')
    return {
      streams: some.map(({ stream }) => stream),
      status,
      reason: some.length === 1 ? told : told.replace(request, 'each request'),
    }
  })
}
