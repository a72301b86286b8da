import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** A mark that one process delivers. It only spares needless requests: the collector knows each id. */
export type Lock = {
  /** True while a living process delivers. */
  isHeld(nowUnixMs: number): boolean
  /** Takes the lock; returns how to give it back, or null when another process has it. */
  take(nowUnixMs: number): (() => void) | null
}

/** A process that delivers renews nothing, and lives shorter than this. */
const longestMs = 15 * 60_000

/** A process needs less than this between making the file and writing its number into it. */
const writingMs = 2_000

/** A lock in a file that names its process. */
export function createLock(file: string): Lock {
  const take = (nowUnixMs: number) => {
    const owner = ownerOf(file)
    if (owner !== null && (isAtWork(owner, nowUnixMs) || !setAside(file, owner))) return null
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      // A disk that is full has no place for the lock either, and delivering is what makes place.
      return (error as NodeJS.ErrnoException).code === 'EEXIST' ? null : () => {}
    }
    return () => rmSync(file, { force: true })
  }
  const isHeld = (nowUnixMs: number) => {
    const owner = ownerOf(file)
    return owner !== null && isAtWork(owner, nowUnixMs)
  }
  return { isHeld, take }
}

type Owner = { pid: number; sinceUnixMs: number }

function isAtWork({ pid, sinceUnixMs }: Owner, nowUnixMs: number): boolean {
  // A clock that was set back makes a time of the future of it, which says as little as one long ago.
  const ageMs = Math.abs(nowUnixMs - sinceUnixMs)
  return pid === 0 ? ageMs < writingMs : ageMs < longestMs && isAlive(pid)
}

/** Removes the lock of a dead process. False when another process was faster: then the lock is put back. */
function setAside(file: string, dead: Owner): boolean {
  const aside = `${file}.${randomUUID()}`
  try {
    renameSync(file, aside)
    const isDead = ownerOf(aside)?.pid === dead.pid
    if (isDead) rmSync(aside, { force: true })
    else renameSync(aside, file)
    return isDead
  } catch {
    return false
  }
}

function ownerOf(file: string): Owner | null {
  try {
    return { pid: Number(readFileSync(file, 'utf8')), sinceUnixMs: statSync(file).mtimeMs }
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
