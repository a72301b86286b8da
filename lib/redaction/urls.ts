import { decoded, type Span } from './spans.ts'
import { isRedacted, looksSecret } from './values.ts'

// All patterns are linear in the length of the text: what may match is bounded, or can begin at one place only.
const userInfo = /\/\/([^\s/?#"'<>]{1,1024})@/g
const slashed = /:\/\/([^\s/?#"'<>:@]{1,128}):(?!\d{1,5}(?:[/?#]|$))([^\s"'<>@]{1,256})@/g
/** Finds credentials before the host of a URL, also where it has no scheme: `//u:p@h`, `u:p@h:5432`. */
export function findUserInfo(text: string, spans: Span[]): void {
  for (const { 1: info = '', index } of text.matchAll(userInfo)) findAccount(text, { at: index, info }, spans)
  for (const { 1: user = '', 2: password = '', index } of text.matchAll(slashed)) {
    if (password.includes('/')) push(spans, index + 3, [user, password])
  }
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) findBare(text, at, spans)
}

const hostAfter = /([\w.-]{1,253}|\[[\da-f:]{2,45}\])(:\d{2,5})?(?![\w@])/iy

/** `user:password@host:5432`, which looks like much else: it needs a port, or a password that looks made. */
function findBare(text: string, at: number, spans: Span[]): void {
  const colon = backOver(text, at, {
    most: 128,
    isPart: (code) => code > 32 && !`:@/"'<>`.includes(String.fromCharCode(code)),
  })
  if (colon === at || text[colon - 1] !== ':') return
  const start = backOver(text, colon - 1, { most: 64, isPart: (code) => /[\w.%+-]/.test(String.fromCharCode(code)) })
  if (start === colon - 1 || !/^$|[\s"'`(=,[]/.test(text[start - 1] ?? '')) return
  hostAfter.lastIndex = at + 1
  const [, host = '', port] = hostAfter.exec(text) ?? []
  const [user, password] = [text.slice(start, colon - 1), text.slice(colon, at)]
  if (host !== '' && isAddress(user, host) && (port !== undefined || looksSecret(password)))
    push(spans, start, [user, password])
}

function backOver(
  text: string,
  from: number,
  { most, isPart }: { most: number; isPart(code: number): boolean },
): number {
  let at = from
  while (at > 0 && from - at < most && isPart(text.charCodeAt(at - 1))) at -= 1
  return at
}

type Found = { at: number; info: string }

function findAccount(text: string, { at, info }: Found, spans: Span[]): void {
  if (redactedInfo.test(info)) return
  const colon = info.indexOf(':')
  // ssh://git@host names an account; https://<token>@host is how git carries a token.
  if (colon >= 0) push(spans, at + 2, [info.slice(0, colon), info.slice(colon + 1)])
  else if (/https?:$/i.test(text.slice(Math.max(0, at - 6), at))) push(spans, at + 2, [info])
}
const redactedInfo = /^redacted:hmac-sha256:[0-9a-f]{16}(?::redacted:hmac-sha256:[0-9a-f]{16})?$/

/** Not `mailto:me@host`, `npm:package@1.2.3` or `12:30@host`. */
function isAddress(user: string, host: string): boolean {
  return (
    !/^(?:mailto|e-?mail|from|to|b?cc|author|npm|acct|sips?|xmpp|image|\d+)$/i.test(user) &&
    !/^v?\d+(?:\.\d+){0,2}$/.test(host)
  )
}

/** Parts of a userinfo, one after the other with a colon between. */
function push(spans: Span[], start: number, parts: string[]): void {
  let at = start
  for (const part of parts) {
    spans.push({ start: at, end: at + part.length, secret: decoded(part) })
    at += part.length + 1
  }
}

const address = /https?:\/\/([^\s/?#"'<>]{1,255})(\/[^\s?#"'<>`)\]]{1,2000})/gi
const hookHost = /(?:^|[.@])(?:[\w-]{0,40}hooks?|webhook)\./i
const hookPath = /\/(?:[\w-]{0,20}hooks?\w{0,2}|incoming|triggers|services(?=\/T\w*\/B\w*\/))(?=\/)/i
const botToken = /\/bot(\d{5,}:[\w-]{16,})/g

/** Finds the path segments that are the secret of a webhook's address. */
export function findHookSegments(text: string, spans: Span[]): void {
  for (const { 0: found, 1: host = '', 2: path = '', index } of text.matchAll(address)) {
    const hook = hookPath.exec(path)
    if (hook === null && !hookHost.test(host)) continue
    const from = hook === null || hookHost.test(host) ? 0 : hook.index + hook[0].length
    for (const { 0: segment, index: at } of path.slice(from).matchAll(/[^/]+/g)) {
      const start = index + found.length - path.length + from + at
      if (looksMade(segment)) spans.push({ start, end: start + segment.length, secret: decoded(segment) })
    }
  }
  for (const { 0: found, 1: token = '', index } of text.matchAll(botToken)) {
    spans.push({ start: index + found.length - token.length, end: index + found.length })
  }
}

const spokenSegment =
  /^(?:[a-z]+\d{0,2}|[A-Z][a-z]+|v?\d+(?:\.\d+)*|[a-z]+(?:[A-Z][a-z]+)+)(?:[-_.~](?:[a-z]+\d{0,2}|[A-Z][a-z]+|\d{1,8})){0,30}$/

/** Whether a segment is no word, no number and no chain of words. */
function looksMade(segment: string): boolean {
  if (isRedacted(segment)) return false
  return segment.length >= 24 && !/[-_.]/.test(segment) && !/^\d+$/.test(segment)
    ? true
    : segment.length > 3 && !spokenSegment.test(segment)
}
