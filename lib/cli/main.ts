#!/usr/bin/env node
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// What Node made of all modules is kept, which takes a third of a short command. Where it can't be written, nothing is.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/platform-sync', import.meta.url)))
await import('./process.ts')
