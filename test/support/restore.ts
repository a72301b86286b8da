import { afterEach, vi } from 'vitest'

// Files that share a worker share its environment and console, so that each test gives them back as they were. (The
// options of the same purpose do so before a test: the next file is already loaded then.)
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})
