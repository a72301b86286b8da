import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { FatalError, messageOf } from '../../core/errors.ts'
import { WatchRule } from './watch.ts'
import { watchRules } from './watch-rules.ts'

/**
 * Our watch rules and those of the configuration: a JSON list, or the path of a file that holds one.
 * @throws FatalError `configuration` that says which rule is wrong and how.
 */
export function configuredRules(configured: string | undefined): readonly WatchRule[] {
  if (!configured) return watchRules
  try {
    const text = configured.trimStart().startsWith('[') ? configured : readFileSync(configured, 'utf8')
    const rules = z.array(WatchRule).safeParse(JSON.parse(text))
    if (!rules.success) throw new Error(z.prettifyError(rules.error).replaceAll('\n', ' '))
    return [...watchRules, ...rules.data]
  } catch (cause) {
    const message = `AUDIT_WATCH_RULES is no list of watch rules: ${messageOf(cause)}. docs/audit.md shows what one looks like`
    throw new FatalError(message, { code: 'configuration', cause })
  }
}
