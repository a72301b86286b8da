import { coverOf, nothing, texts } from './names.ts'
import { quoteAt, quotedFrom } from './quoted.ts'
import type { Span } from './spans.ts'
import { isSecretText, looksSecret } from './values.ts'

const option = /(?<![\w-])--?([A-Za-z][\w.-]{0,60})[ \t]{1,8}(?=[^\s-])/g
const dash = 45
const accounts = /^(?:u|user|proxy-user)$/

/** What an option's name says about the argument after it: `--api-key`, `-password`. Flags like `--no-auth` take none. */
export function optionCoverOf(option: string) {
  const name = /^--?([A-Za-z][\w.-]{0,60})$/.exec(option)?.[1]
  return name === undefined || name.startsWith('no-') ? nothing : coverOf(name)
}

/** Whether an option takes `user:password`. */
export function takesAccount(option: string): boolean {
  return option.charCodeAt(0) === dash && accounts.test(option.replace(/^--?/, ''))
}

/** Finds the arguments of telling options on a command line: `--token x`, `-u user:password`. */
export function findOptions(text: string, spans: Span[]): void {
  for (const { 0: found, 1: name = '', index } of text.matchAll(option)) {
    const cover = name.startsWith('no-') ? nothing : coverOf(name)
    if (cover === nothing && !accounts.test(name)) continue
    const value = valueAt(text, index + found.length)
    const secret = text.slice(value.start, value.end)
    if (cover === nothing) findAccount(value, secret, spans)
    else if (isSecretText(secret, cover) && !isProse(secret) && !/^\d{1,5}$/.test(secret)) spans.push(value)
  }
}

const argument = /[^\s"'`<>|;)]+/y

function valueAt(text: string, at: number): Span {
  const quoted = quoteAt(text, at) >= 0 ? quotedFrom(text, at) : undefined
  if (quoted) return { start: quoted.start, end: quoted.end }
  argument.lastIndex = at
  let end = at + (argument.exec(text)?.[0].length ?? 0)
  while (end > at && ',\\.'.includes(text[end - 1] as string)) end -= 1
  return { start: at, end }
}

/** The password in `-u user:password`; `-u 1000:1000` is a user and a group. */
function findAccount({ start, end }: Span, account: string, spans: Span[]): void {
  const colon = account.indexOf(':')
  const password = account.slice(colon + 1)
  if (colon > 0 && password !== '' && !/^\d+$/.test(password) && isSecretText(password, texts)) {
    spans.push({ start: start + colon + 1, end })
  }
}

const afterOption = new Set(
  `a an and argument as but by can does flag for from has if in instead is it must of on option or parameter should so
  switch that the this to value was when which will with you`.split(/\s+/),
)

/** In a sentence about an option the word after it is no argument. */
function isProse(word: string): boolean {
  return afterOption.has(word.toLowerCase())
}

const glued =
  /\b(?:sshpass|login|mysql\w{0,10}|mariadb\w{0,10}|psql|mongo\w{0,10}|redis-cli|sqlcmd|unzip|zip)\b[^\n|;&]{0,120}?\s-[paP] ?(?=[^\s-])/g

/** Finds the password after `-p` of the commands that take one so: `sshpass -p x`, `mysql -px`. It must look made. */
export function findGluedPasswords(text: string, spans: Span[]): void {
  for (const { 0: found, index } of text.matchAll(glued)) {
    const value = valueAt(text, index + found.length)
    if (looksSecret(text.slice(value.start, value.end))) spans.push(value)
  }
}
