import { defineConfig } from 'vitest/config'

/** The folders of slow tests: whole processes, a death at each call, stacks and their bundles. All others are fast. */
const slow = ['test/journeys', 'test/infra']

/** Properties whose examples are long stories: the fast tests tell a quarter of them, the slow ones all. */
const stories = [
  'test/publish/iceberg/stories.test.ts',
  'test/sync/conservation.test.ts',
  'test/sync/parents-stories.test.ts',
]

/** What needs more than Node, and says by itself when it is left out: `npm run test:deploy`. */
const deployed = ['test/deploy']

/** What needs a browser, and says by itself when it is left out: `npm run test:pages`. */
const looked = ['test/pages']

/** Limits that only a test that hangs meets, however busy the machine is. */
const timeouts = { fast: 120_000, slow: 900_000 }

export default defineConfig({
  test: {
    // By default one core is left alone, which on two is half of the machine.
    maxWorkers: '100%',
    // Tests may not depend on the zone of the machine: a suite that needs another one sets it in a child process.
    env: { TZ: 'UTC' },
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...slow, ...deployed, ...looked].map((folder) => `${folder}/**`),
          // To load the SDK and the emulators anew for each file takes longer than most tests.
          isolate: false,
          setupFiles: ['test/support/restore.ts', 'test/support/properties.ts'],
          testTimeout: timeouts.fast,
          hookTimeout: timeouts.fast,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: [...slow.map((folder) => `${folder}/**/*.test.ts`), ...stories],
          env: { STORIES: 'all' },
          setupFiles: ['test/support/properties.ts'],
          testTimeout: timeouts.slow,
          hookTimeout: timeouts.slow,
        },
      },
      {
        extends: true,
        test: {
          name: 'pages',
          include: looked.map((folder) => `${folder}/**/*.test.ts`),
          testTimeout: timeouts.slow,
          hookTimeout: timeouts.slow,
        },
      },
      {
        extends: true,
        test: {
          name: 'deploy',
          include: deployed.map((folder) => `${folder}/**/*.test.ts`),
          testTimeout: timeouts.slow,
          hookTimeout: timeouts.slow,
        },
      },
    ],
  },
})
