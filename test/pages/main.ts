import { spawnSync } from 'node:child_process'
import { findChromium } from './browser.ts'

const { missing } = findChromium()
if (missing !== null) {
  process.stdout.write(`Left out: the tests of pages in a browser, which need Chromium. ${missing}\n`)
} else {
  const { status } = spawnSync('vitest', ['run', '--project', 'pages'], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
