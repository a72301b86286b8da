import { existsSync, readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { bundleCommand } from '../../lib/hooks/machine/bundle.ts'
import { ended, soon } from '../cli/cli.ts'
import { createMachine, type Machine } from '../hooks/machine/machine.ts'

const commands = 24

it('a hook command that is killed at any moment loses no event that it kept, and leaves nothing behind', async () => {
  const machine = await createMachine(await bundleCommand())
  onTestFinished(machine.close)
  const { collector, place } = machine
  collector.answer = async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
    return undefined
  }
  const killing = setInterval(() => tryKill(ownerOf(machine), 'SIGKILL'), 60)
  onTestFinished(() => clearInterval(killing))
  const kept = await killedAtRandom(machine)
  clearInterval(killing)
  await soon(() => !existsSync(place.lock) || !tryKill(ownerOf(machine), 0))
  const old = Date.now() / 1000 - 120
  for (const name of machine.spoolFiles()) utimesSync(join(place.spool, name), old, old)
  await machine.flush()
  const numbers = new Map(collector.accepted.map(({ id, input }) => [id, input.at as number]))
  const twice = collector.accepted.length - numbers.size
  process.stdout.write(`killed: ${commands - kept.length} of ${commands}; sent twice: ${twice}\n`)
  expect(kept.filter((at) => ![...numbers.values()].includes(at))).toEqual([])
  expect(new Set(numbers.values()).size).toBe(numbers.size)
  expect(machine.spoolFiles()).toEqual([])
  expect(machine.counts()).toEqual({ lost: 0, unreadable: 0 })
})

/** Runs commands one after the other, each with a kill on its way; returns those that came to their end first. */
async function killedAtRandom(machine: Machine): Promise<number[]> {
  const kept: number[] = []
  for (let at = 0; at < commands; at += 1) {
    const child = machine.start(JSON.stringify({ hook_event_name: 'Stop', at }))
    const timer = setTimeout(() => child.kill('SIGKILL'), Math.random() * 300)
    const { code } = await ended(child)
    clearTimeout(timer)
    if (code === 0) kept.push(at)
  }
  return kept
}

/** The process that delivers, which a command of this test started; 0 when there is none. */
function ownerOf({ place }: Machine): number {
  try {
    return Number(readFileSync(place.lock, 'utf8'))
  } catch {
    return 0
  }
}

function tryKill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid > 0 && process.kill(pid, signal)
  } catch {
    return false
  }
}
