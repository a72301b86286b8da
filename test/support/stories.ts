/**
 * How many examples a property tells whose examples are long stories: all of them in the slow tests, and a quarter in the
 * fast ones, which run after each change (vitest.config.ts).
 */
export function told(all: number): { numRuns: number } {
  return { numRuns: process.env.STORIES === 'all' ? all : Math.ceil(all / 4) }
}
