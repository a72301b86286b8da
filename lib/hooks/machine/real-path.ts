import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { FatalError } from '../../core/errors.ts'

/** As many links as systems follow in a row. */
const mostLinks = 40

/**
 * Where a settings file lies. It is often a link into a folder of such files: the link must stay one, also when there is
 * no file yet where it points to.
 * @throws FatalError `usage` when there is no folder for it.
 */
export function realPathOf(file: string): string {
  let path = resolve(file)
  for (let links = 0; links < mostLinks; links++) {
    if (existsSync(path)) return realpathSync(path)
    if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) break
    path = resolve(dirname(path), readlinkSync(path))
  }
  if (existsSync(dirname(path))) return join(realpathSync(dirname(path)), basename(path))
  throw new FatalError(`The folder ${dirname(path)} does not exist. Is ${file} the settings file of the agent?`, {
    code: 'usage',
  })
}
