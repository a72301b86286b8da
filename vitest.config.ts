import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Files share their worker's modules, which halves the CPU time of small suites: no test may leave anything behind in
    // a module, in the environment or in a client's class.
    isolate: false,
    // By default one core is left alone, which on two is half of the machine.
    maxWorkers: '100%',
    // Tests may not depend on the zone of the machine: a suite that needs another one sets it in a child process.
    env: { TZ: 'UTC' },
  },
})
