import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { FatalError } from '../core/errors.ts'
import { type Cli, type CommonOptions, defaultFolder } from './command.ts'
import type { Check } from './doctor-checks.ts'
import type { Output } from './output.ts'

export type FolderOptions = { setAside?: boolean }

/**
 * Checks the folder of `--local` before anything is opened in it; null when it is sound, or there is none. With
 * `setAside` a damaged one is moved aside, and a sound one stays.
 * @throws FatalError `usage` when `setAside` names no folder, or it can't be moved.
 */
export async function checkLocalFolder(
  cli: Cli,
  io: Output,
  { local, setAside = false }: CommonOptions & FolderOptions,
): Promise<Check[] | null> {
  if (local === undefined) {
    if (setAside) throw new FatalError('--set-aside moves a folder of --local: add that.', { code: 'usage' })
    return null
  }
  const folder = resolve(local === true ? defaultFolder : local)
  const { hasState } = await import('../local/built-in-platform.ts')
  if (!existsSync(folder) || !hasState(folder)) return null
  const { checkFolder, setAside: moveAside } = await import('../local/emulators/check-folder.ts')
  const parts = await checkFolder(folder)
  if (!parts?.some(({ damage }) => damage !== null)) {
    if (setAside) io.note(`${folder} is not damaged, and stays where it is.`)
    return null
  }
  const checks = parts.map(({ part, damage }): Check => {
    return { what: part, state: damage === null ? 'ok' : 'fail', detail: damage ?? 'can be read to its end' }
  })
  return [...checks, setAside ? moved(folder, moveAside(folder, cli.clock.now())) : advice(folder)]
}

function moved(folder: string, aside: string): Check {
  const detail = `${folder} is ${aside}: the next sync begins anew. Its s3 holds the published files as they were.`
  return { what: 'folder', state: 'info', detail }
}

function advice(folder: string): Check {
  const detail = `"platform-sync doctor --local ${folder} --set-aside" moves it aside, so that the next sync begins anew. Nothing is deleted.`
  return { what: 'folder', state: 'info', detail }
}
