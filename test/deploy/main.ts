import { spawnSync } from 'node:child_process'
import { install, pinned } from './emulator.ts'

const missing = install()
if (missing !== null) {
  process.stdout.write(`Left out: the tests of a deployment, which need ${pinned.name} from PyPI. ${missing}\n`)
} else {
  const { status } = spawnSync('vitest', ['run', '--project', 'deploy', '--no-file-parallelism'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
