import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Installs what `pip install` is told into a folder of its own, once: `executable` is there when it is done. Answers why it
 * can't be had; null when it is there.
 */
export function installInto(venv: string, { executable, packages }: { executable: string; packages: string[] }) {
  if (existsSync(executable)) return null
  try {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'pipe' })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages]
    execFileSync(join(venv, 'bin', 'python'), pip, { stdio: 'pipe' })
    return null
  } catch (error) {
    rmSync(venv, { recursive: true, force: true })
    return `Python's venv or PyPI is not to be had here (${String((error as Error).message).split('\n')[0]})`
  }
}
