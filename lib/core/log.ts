/** Structured fields of a log line. Never a record, a header or a credential. */
export type LogFields = Record<string, unknown>

/** Where log lines go: Powertools in Lambda, stderr on a laptop, memory in tests. */
export type Log = {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** Swallows everything; for callers that report by their return value alone. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }
