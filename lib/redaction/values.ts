import { type Cover, codes, nothing, scalars } from './names.ts'

const prefix = 'redacted:hmac-sha256:'
const redacted = /^redacted:(?:hmac-sha256:[0-9a-f]{16}|nested-too-deep)$/

/** What stands for everything below the level to which records are looked into. */
export const tooDeep = 'redacted:nested-too-deep'

/** What a replaced value looks like: equal secrets give equal fingerprints, so that a rotation is visible. */
export function isRedacted(value: unknown): boolean {
  return typeof value === 'string' && value.startsWith('redacted:') && redacted.test(value)
}

/** The replacement of a secret whose keyed hash begins with these 16 hex digits. */
export function fingerprintOf(digits: string): string {
  return prefix + digits
}

/** Whether a text of this name's value is to be hidden: references, switches and times say what is set, not to what. */
export function isSecretText(value: string, cover: Cover): boolean {
  if (cover === nothing || isRedacted(value)) return false
  if (cover === scalars) return true
  if (value === '' || isReference(value)) return false
  return cover === codes || !(isTime(value) || isSwitch(value))
}

const longestPlain = 40

/** A time, a date or a length of time. */
function isTime(value: string): boolean {
  return value.length <= longestPlain && time.test(value)
}
const time =
  /^(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?|\d{1,6} ?(?:ms|s|m|h|d|w|y|sec|min|(?:second|minute|hour|day|week|month|year)s?))$/i

/** A word that turns something on or names a way to sign in. */
function isSwitch(value: string): boolean {
  return value.length <= longestPlain && switches.has(value.toLowerCase())
}
const switches = new Set(
  `true false yes no on off none null nil undefined n/a na auto default enabled disabled required optional anonymous basic
  bearer digest negotiate ntlm kerberos ldap oauth oauth2 oidc openid saml sso mtls iam jwt apikey api_key api-key token
  password secret string number boolean any unknown`.split(/\s+/),
)

/**
 * What names where a secret is instead of telling it: `${VARIABLE}`, `{{ template }}`, `$(cat file)`, `<your key>`, `***`,
 * an ARN, a path. What can hold a value itself, as `${VARIABLE:-value}` does, is none.
 */
export function isReference(value: string): boolean {
  if (value.length > 300 || !reference.test(value)) return false
  return !value.startsWith('$(') || !value.slice(2, -1).split(' ').some(looksSecret)
}
const reference = new RegExp(
  `^(?:${[
    /\$\{\{? ?[\w.]{1,100} ?\}?\}|\{\{ ?[\w.]{1,100} ?\}\}|\$env:\w{1,100}|%[A-Z_]{2,60}%|\$\([\w./ ~-]{1,200}\)/,
    /<[A-Za-z][A-Za-z _./-]{0,60}>|\[[a-z -]{1,40}\]|[*•]{3,}|[xX]{3,}|\.{3}|…/,
    /arn:aws[\w-]*:[\w:/.+=@-]{1,250}/,
    /(?:~|\.{1,2}|\/(?:home|Users|root|etc|var|usr|opt|tmp|run|srv|mnt|app|workspace|proc|dev|private))(?:\/[\w.@ -]{1,60}){1,20}\/?/,
    /[A-Z]:(?:\\{1,2}[\w.@ -]{1,60}){1,20}/,
  ]
    .map(({ source }) => source)
    .join('|')})$`,
)

/** Whether a word looks made rather than spoken: letters and digits mixed, signs among letters, many changes of case. */
export function looksSecret(word: string): boolean {
  if (word.length < 4 || isTime(word) || isReference(word) || word.includes('redacted:')) return false
  if (!/\p{L}/u.test(word) || spoken.test(word)) return false
  if (/\d/.test(word) || /[!#$^*]/.test(word.slice(0, -1))) return true
  return word.length >= 12 && changesOfCase(word) * 3 >= word.length
}
/** A measure (`30s`), a version, an e-mail address, or a number with its sign. */
const spoken = /^(?:\d+(?:\.\d+)*[a-z]{1,4}|v?\d+(?:\.\w+){1,4}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4}|#\d+)$/i

function changesOfCase(word: string): number {
  let changes = 0
  for (let i = 1; i < word.length; i++) if (isUpper(word, i) !== isUpper(word, i - 1)) changes += 1
  return changes
}

function isUpper(word: string, at: number): boolean {
  const code = word.charCodeAt(at)
  return code >= 65 && code <= 90
}
