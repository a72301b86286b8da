import { FatalError, messageOf } from './errors.ts'

/** Why the file system of this machine refused something. The data it holds is whole then, and nobody should delete it. */
export type DiskFault = 'full' | 'quota' | 'file size' | 'refused' | 'denied' | 'read-only'

/** The name under which an emulator answers that the disk refused a write, so that nobody tries it again. */
export const diskFaultName = 'LocalDiskFault'

const byCode: Record<string, DiskFault> = {
  ...{ ENOSPC: 'full', EDQUOT: 'quota', EFBIG: 'file size', EIO: 'refused' },
  ...{ EACCES: 'denied', EPERM: 'denied', EROFS: 'read-only' },
}

// LevelDB and DuckDB say only in words what the system told them.
const byWords: readonly [RegExp, DiskFault][] = [
  [/no space left on device/i, 'full'],
  [/disk quota exceeded/i, 'quota'],
  [/file too large/i, 'file size'],
  [/read-only file system/i, 'read-only'],
  [/permission denied|operation not permitted/i, 'denied'],
]

/** SQLite's own codes, by their low byte: SQLITE_FULL, SQLITE_READONLY, and SQLITE_CANTOPEN for a file that may not be made. */
const bySqliteCode: Record<number, DiskFault> = { 13: 'full', 8: 'denied', 14: 'denied' }
/** SQLITE_IOERR_WRITE, which does not say what the system told it. */
const sqliteWrite = 778

/** What the file system of this machine refused, if that is what an error or its cause is about; null otherwise. */
export function diskFaultOf(error: unknown): DiskFault | null {
  if (!(error instanceof Error)) return null
  const { code = '', errcode = 0 } = error as { code?: unknown; errcode?: number }
  const known = byCode[String(code)] ?? bySqliteCode[errcode & 0xff] ?? faultInWords(error)
  if (errcode === sqliteWrite) return 'refused'
  return known ?? diskFaultOf(error.cause)
}

/** Only the words of a database: those of a server that was asked something mean its own disk and its own rights. */
function faultInWords(error: Error): DiskFault | null {
  const { code } = error as { code?: unknown }
  if (code !== 'LEVEL_IO_ERROR' && !/^IO Error:/i.test(error.message)) return null
  return byWords.find(([words]) => words.test(error.message))?.[1] ?? null
}

const sentences: Record<DiskFault, string> = {
  full: 'The disk is full',
  quota: "This account's quota of the disk is used up",
  'file size': 'A file would grow larger than this account may make one (ulimit -f)',
  refused: 'The disk refuses writes',
  denied: 'This account may not write',
  'read-only': 'The file system is read-only',
}

/** The error for what the file system refused at a place; null when that is not what happened. */
export function diskError(error: unknown, place: string): FatalError | null {
  const fault = diskFaultOf(error)
  if (fault === null) return null
  const what = `${sentences[fault]}: ${place} can't be written (${reasonOf(error)}).`
  return isLackOfRights(fault)
    ? new FatalError(`${what} Use the account that owns it, or name another place.`, { code: 'usage', cause: error })
    : new FatalError(`${what} What is there already is whole. Make room there, and run the command again.`, {
        ...{ code: 'disk_full', cause: error },
      })
}

/** Whether a fault is one of rights: room would not help. */
export function isLackOfRights(fault: DiskFault | null): boolean {
  return fault === 'denied' || fault === 'read-only'
}

/** LevelDB's own error says no more than that it failed; its cause says why. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause ? `${error.message}: ${messageOf(error.cause)}` : messageOf(error)
}
