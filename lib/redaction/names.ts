/** What is hidden at a place. The larger number hides more. */
export type Cover = 0 | 1 | 2 | 3
export const nothing: Cover = 0
/** Under `token` or `auth`: texts that can be secrets. Numbers are counts and times there. */
export const texts: Cover = 1
/** Under `password` or `pin`: texts and numbers, since both are typed there. */
export const codes: Cover = 2
/** Under a declared path: all scalars but booleans and null, whatever they look like. */
export const scalars: Cover = 3

/** The cover that hides more. */
export function wider(a: Cover, b: Cover): Cover {
  return Math.max(a, b) as Cover
}

const decisions = new Map<string, Cover>()
const decisionsKept = 10_000

/**
 * What a name says about the value that it names: the key of an object, a variable, an option, a header, a parameter.
 * Its words count, in any script and case, not its letters: `monkey` holds no key, and `tokenTtlDays` is no token.
 */
export function coverOf(name: string): Cover {
  if (name.length > longestName || !mayTell.test(name)) return nothing
  const known = decisions.get(name)
  if (known !== undefined) return known
  const cover = judge(wordsOf(name))
  // Names can be data (a map by session id), so the memory is bounded.
  if (decisions.size < decisionsKept) decisions.set(name, cover)
  return cover
}

const longestName = 200

/** What every telling name holds, so that most names cost one look. Foreign scripts are looked at as a whole. */
const mayTell =
  /[^\0-\x7f]|pass|pw|psw|secret|token|key|auth|cred|cookie|jw[test]|otp|pin|psk|pat|sas|bearer|cv[cv]|mnemonic|code|phrase|kennwort|senha|clave|wachtwoord|heslo|parola|sifre|salasana|contrasen|geheim|sandi|haslo|jelszo/i

/** The words of a name in lower case, without accents and widths, and without the number at a word's end. */
export function wordsOf(name: string): string[] {
  return folded(name)
    .replace(/([\p{Ll}\p{Nd}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{Nd}]+/u)
    .map((word) => word.replace(/(?<=\p{L})\p{Nd}+$/u, ''))
    .filter((word) => word !== '')
}

/** A name in the plain form of its letters: fullwidth, accented and invisible characters are how names slip through. */
export function folded(name: string): string {
  if (/^[\0-\x7f]*$/.test(name)) return name
  return name
    .normalize('NFKD')
    .replace(/[\p{M}\p{Cf}]/gu, '')
    .normalize('NFC')
    .replace(/[łŁøØđĐıßæÆ]/g, (letter) => plainLetters[letter] as string)
}

const plainLetters: Record<string, string> = {
  ł: 'l',
  Ł: 'L',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ı: 'i',
  ß: 'ss',
  æ: 'ae',
  Æ: 'AE',
}

function set(words: string): ReadonlySet<string> {
  return new Set(words.trim().split(/\s+/))
}

/** What a value is measured, switched or called by: whatever stands before these words, the value is no secret. */
const measures = set(`
  ttl days hours minutes seconds secs millis ms count counts length len limit limits size max min number total budget rate
  ratio percent at on date time timestamp expiry expires expiration expired age lifetime interval period enabled disabled
  required optional allowed supported visible rotation policy policies type types kind method methods mode algorithm alg
  provider providers strategy format version url uri endpoint issuer audience scope scopes status state name names label
  placeholder hint description
`)

/** Words that say how a value is written, not what it is. */
const carriers = set('value values string str text header raw plain clear base b encoded encrypted hash hashed env var')

const typed = set('password passwd passphrase passcode pwd pw psw pswd passw pin otp totp hotp cvv cvc')
const short = set('pass auth creds cred jwt jws jwe psk pat sas mnemonic passkey basicauth httpauth proxyauth xauth')
const within =
  /password|passwd|passphrase|passcode|secret(?!ar|s?manager)|token(?!i[sz])|apikey|accesskey|privatekey|credential|authorization|bearer|cookie|pwd$/

/** How words for passwords, secrets, tokens and keys begin in other languages, and what they are where words have no spaces. */
const foreignWord =
  /^(?:passwort|kennwort|geheim|contrasen|clave|senha|parola|wachtwoord|haslo|heslo|sifre|salasana|jelszo|losenord|парол|секрет|токен|ключ|κωδικ|סיסמ|पसवरड)/
const foreignText =
  /motdepasse|matkhau|katasandi|密码|密碼|口令|密钥|密鑰|令牌|ハスワート|暗証番号|秘密鍵|トークン|비밀번호|암호|토큰|كلمةالمرور|รหสผาน/

/** What is locked or looked up by a key that everyone may know. */
const openKeys = set(`
  public pub primary foreign partition sort range hash row column cache object index idempotency dedup dedupe deduplication
  group grouping item map natural surrogate unique composite candidate parent child routing route message translation i18n
  locale lookup config setting settings field property prop dict registry feature flag hot shortcut arrow enter return escape
  tab shift control ctrl alt meta cmd modifier page cursor issue project space ticket jira board sprint label tag metric event
  react list query search filter order bucket s file path folder entity record resource json yaml xml attribute attr param
  state store reducer action join shard distribution dist cluster clustering trie tree menu nav theme color icon image media
  asset musical legend turn low high missing required allowed unknown extra valid invalid duplicate any each every first last
  next previous prev this that other same all both which many no sub top const let var val final static readonly the a an
`)
const closedKeys =
  /^(?:ssh|api|app|sign|signing|private|access|secret|encrypt|encryption|decryption|master|shared|deploy|auth|account|license|service|host|openai|aws|gpg|pgp|rsa|hmac|jwt|session|client|server|user|root|admin|db|storage|webhook)keys?$/
const closedPass =
  /^(?:db|user|my|smtp|imap|root|admin|mysql|pg|postgres|redis|mongo|ftp|ssh|http|proxy|ldap|mail|wifi)pass$/
const codeKinds = set(
  'recovery backup verification security access activation login auth authentication sms otp mfa pin',
)
const phraseKinds = set('seed recovery pass secret backup')

function judge(words: string[]): Cover {
  if (words.length === 0 || measures.has(words.at(-1) as string)) return nothing
  let end = words.length
  while (end > 1 && carriers.has(words[end - 1] as string)) end -= 1
  const last = words[end - 1] as string
  const before = words[end - 2]
  if (typed.has(last)) return codes
  const joined = words.join('')
  if (within.test(joined) || short.has(last) || closedPass.test(last)) return texts
  if (last === 'key' || last === 'keys') {
    if (before === undefined) return last === 'keys' ? texts : nothing
    return openKeys.has(before) ? nothing : texts
  }
  if (closedKeys.test(last)) return texts
  if (before !== undefined && /^codes?$/.test(last) && codeKinds.has(before)) return codes
  if (before !== undefined && last === 'phrase' && phraseKinds.has(before)) return texts
  return words.some((word) => foreignWord.test(word)) || foreignText.test(joined) ? codes : nothing
}

const parameterNames = set(
  'key k sig sign signature code auth hmac ticket sid session sessionid phpsessid jsessionid assertion',
)

/** What the name of a parameter of a URL says: there, `key`, `code` and `sig` are what gives access. */
export function parameterCoverOf(name: string): Cover {
  const cover = coverOf(name)
  if (cover !== nothing || name.length > longestName) return cover
  const words = wordsOf(name)
  return parameterNames.has(words.join('')) || words.at(-1) === 'signature' ? texts : nothing
}
