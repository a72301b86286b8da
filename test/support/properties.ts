import fc from 'fast-check'

/**
 * The seed of all properties: the same stories for everybody, so that a change is judged by what it changes. To look for
 * stories that nobody saw: `PROPERTY_SEED=$RANDOM npx vitest run --project fast <file>`.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 14) })
