import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // By default one core is left alone, which on two is half of the machine.
    maxWorkers: '100%',
    // Tests may not depend on the zone of the machine: a suite that needs another one sets it in a child process.
    env: { TZ: 'UTC' },
  },
})
