import { mkdtemp, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FatalError, messageOf } from '../core/errors.ts'
import { makeFolder } from '../core/folders.ts'

/** Writes what the user named; that it can't be written is no fault of ours, and needs no stack. @throws FatalError `usage`. */
export async function atPath<T>(out: string, write: (out: string) => Promise<T>): Promise<T> {
  try {
    return await write(out)
  } catch (cause) {
    throw new FatalError(`${out} can't be written: ${messageOf(cause)}`, { code: 'usage', cause })
  }
}

/** Writes a file that the user named, in a folder that need not be there yet. @throws FatalError `usage` when it can't be. */
export async function writeAt(out: string, text: string): Promise<void> {
  await atPath(out, async () => {
    makeFolder(dirname(out))
    await writeFile(out, text)
  })
}

/**
 * Fills an empty or new folder with all of something, or leaves it as it was. `fill` gets a folder inside it, since what
 * lies around it may be another disk or not ours to write. `last` names what makes the rest complete.
 * @throws FatalError `usage` when the folder is not empty, or can't be written.
 */
export async function fillFolder<T>(
  out: string,
  { fill, last }: { fill: (dir: string) => Promise<T>; last: readonly string[] },
): Promise<T> {
  const { made, dir } = await atPath(out, () => prepare(out))
  try {
    const filled = await fill(dir)
    await atPath(out, () => moveUp(dir, { out, last }))
    return filled
  } catch (error) {
    // What fails here must not hide what went wrong.
    await rm(dir, { recursive: true, force: true }).catch(() => undefined)
    if (made) await rmdir(out).catch(() => undefined)
    throw error
  }
}

async function prepare(out: string): Promise<{ made: boolean; dir: string }> {
  const made = makeFolder(out)
  if ((await readdir(out)).length === 0) return { made, dir: await mkdtemp(join(out, '.unfinished-')) }
  throw new Error('it is not empty. Name a new folder, so that nothing foreign gets into it')
}

async function moveUp(dir: string, { out, last }: { out: string; last: readonly string[] }): Promise<void> {
  const names = (await readdir(dir)).toSorted((a, b) => last.indexOf(a) - last.indexOf(b))
  for (const name of names) await rename(join(dir, name), join(out, name))
  await rmdir(dir)
}
