import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { startSimulator } from '../../lib/local/simulator/simulator.ts'

const script = `
import { createPlatformClient } from 'agent-platform-sync'
const { PLATFORM_APP_URL: appUrl, PLATFORM_BASE_URL: baseUrl } = process.env as Record<string, string>
const platform = createPlatformClient({ appUrl, baseUrl, credentials: 'sim-key' })
const { computers } = await platform.listComputers()
const { sessionId } = await platform.createSession({ computerId: computers[0]!.id as string })
console.log((await platform.getSession(sessionId)).status)
`

it('the package is used by TypeScript in another folder that has it installed', async () => {
  const sim = await startSimulator({ counts: { computers: 1, sessions: 0, users: 0, reports: 0, revisions: 0 } })
  const folder = mkdtempSync(join(tmpdir(), 'platform-user-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    // As `npm install <folder>` does it.
    symlinkSync(new URL('../..', import.meta.url).pathname, join(folder, 'node_modules/agent-platform-sync'))
    writeFileSync(join(folder, 'main.mts'), script)
    const env = { ...process.env, PLATFORM_APP_URL: sim.appUrl, PLATFORM_BASE_URL: sim.baseUrl }
    const { stdout } = await promisify(execFile)(process.execPath, ['main.mts'], { cwd: folder, env })
    expect(stdout).toBe('idle\n')
  } finally {
    await sim.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
