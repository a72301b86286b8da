import { nothing, parameterCoverOf } from './names.ts'
import { decoded, type Span } from './spans.ts'
import { isSecretText } from './values.ts'

const parameter = /(?:%3f|%26|%23|%3b|[?&#;=])([\w.-]{1,64})%3d((?:(?!%26|%23)[^\s"'<>&#?=;,]){1,4096})/gi
const userInfo = /%2f%2f((?:(?!%2f|%3a|%40)[^\s"'<>&#?/@]){1,256})%3a((?:(?!%2f|%40)[^\s"'<>&#?/@]){1,256})%40/gi

/** Finds credentials in a URL that is itself a parameter of another, its signs written as percent escapes. */
export function findEncoded(text: string, spans: Span[]): void {
  for (const { 0: found, 1: name = '', 2: value = '', index } of text.matchAll(parameter)) {
    const cover = parameterCoverOf(name)
    const secret = decoded(value)
    if (cover === nothing || !isSecretText(secret, cover) || /^\d{1,5}$/.test(secret)) continue
    const end = index + found.length
    spans.push({ start: end - value.length, end, secret })
  }
  for (const { 0: found, 1: user = '', 2: password = '', index } of text.matchAll(userInfo)) {
    const start = index + '%2f%2f'.length
    const end = index + found.length - '%40'.length
    spans.push({ start, end: start + user.length, secret: decoded(user) })
    spans.push({ start: end - password.length, end, secret: decoded(password) })
  }
}
