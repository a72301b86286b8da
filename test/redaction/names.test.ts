import { describe, expect, it } from 'vitest'
import { codes, coverOf, nothing, parameterCoverOf, texts } from '../../lib/redaction/names.ts'
import { cpuMs } from '../support/cpu.ts'

describe('a name', () => {
  it.each(
    `pwd pass passwd auth creds cred jwt otp pin psk DB_PASS OPENAI_KEY signingKey sshKey SSH_KEY sshkey encryptionKey
    api-key X-API-KEY apiKey2 authToken auth_value dbpwd smtpPass basicAuth oauthToken accessKeyId seedPhrase recoveryCodes
    sshKeys ｐｗｄ Ｓｅｃｒｅｔ ｔｏｋｅｎ：１ clé_api_token mot-de-passe contraseña Passwörter-Token şifre пароль ПАРОЛЬ
    Ключ_API 密码 密碼 用户密码 パスワード 秘密鍵 비밀번호 κωδικός hasło pass​word`.split(/\s+/),
  )('tells of a secret: %s', (name) => expect(coverOf(name)).not.toBe(nothing))

  it.each(
    `tokenTtlDays tokenExpiresAt tokenType passwordPolicy passwordMinLength secretName authMethod authUrl authEnabled
    keyboard keynote key keyId monkey monkeys turkey passing passed passRate bypass compass author authority authored
    authentic primaryKey primary_key publicKey public_key sshPublicKey foreignKey sortKey partitionKey cacheKey objectKey
    issueKey i18nKey routingKey idempotencyKey secretary secretariat tokenizer tokenization keyframes pinned spinner opinion
    shipping patch patient sass signature altVendorThoughtSignature enabledPlugins commitHash sha256 model title updatedAt
    sessionId computerId hostname statusCode zipCode errorCode phrase secretsmanager подключение включено название`.split(
      /\s+/,
    ),
  )('tells of none: %s', (name) => expect(coverOf(name)).toBe(nothing))

  it('tells whether a number can be the secret', () => {
    expect(['password', 'pin', 'otp', 'smsCode'].map(coverOf)).toEqual([codes, codes, codes, codes])
    expect(['token', 'auth', 'pass', 'inputTokens', 'apiKey'].map(coverOf)).toEqual([texts, texts, texts, texts, texts])
  })

  it('tells more as a parameter of a URL', () => {
    const names = ['sig', 'key', 'code', 'auth', 'X-Amz-Signature', 'sid', 'hmac']
    expect(names.map(parameterCoverOf)).not.toContain(nothing)
    expect(['page', 'q', 'tab', 'state', 'lang', 'version'].map(parameterCoverOf)).toEqual(Array(6).fill(nothing))
  })

  it('is judged in bounded time, however long', () => {
    const judging = () => {
      for (const part of ['a', 'aB', 'token', 'ключ', '_', '1a']) coverOf(part.repeat(300_000))
    }
    expect(cpuMs(judging)).toBeLessThan(2_000)
  })
})
