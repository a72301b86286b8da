import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Tests may not depend on the zone of the machine: a suite that needs another one sets it in a child process.
    env: { TZ: 'UTC' },
  },
})
