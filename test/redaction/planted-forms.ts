import type { Json } from '../../lib/core/json.ts'

/** A way in which people write a secret down. */
export type Form = { readonly form: string; plant(secret: string): Json }

/** Names that tell, in the scripts, cases and spellings that people use. */
const names = `apiKey api_key API-KEY x-api-key apikey APIKEY clientSecret client_secret CLIENT_SECRET passwd password
  Password PASSWORD dbPassword db_password userpassword pwd DB_PWD dbpwd pass DB_PASS smtpPass dbpass passphrase
  sshPassphrase passcode secret Secret mySecret secretValue webhookSecret auth httpAuth basic_auth X-Auth authHeader
  Authorization authorization Proxy-Authorization bearer bearerValue creds aws_creds cred credentials cloudCredential jwt
  userJwt JWT otp totp pin token accessToken refresh_token ID_TOKEN authToken GITHUB_TOKEN bot-token sessionToken
  csrf_token tokens privateKey private_key sshKey ssh_key SSH-KEY signingKey signing_key encryptionKey masterKey
  OPENAI_KEY openaiKey AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY storageKey accountKey licenseKey serviceKey sharedAccessKey
  Set-Cookie cookie psk seedPhrase recoveryCode ｐａｓｓｗｏｒｄ Ａｐｉ＿Ｋｅｙ pássword tökén contraseña
  mot_de_passe Passwort wachtwoord hasło пароль токен 密码 密钥 パスワード 비밀번호 pass\u200bword ssh_key2 token1`.split(
  /\s+/,
)

/** Lines of text with a place for a secret: `%` stands for it. */
const lines = [
  'export TOKEN=%',
  'TOKEN=%',
  'DB_PASS=%',
  'OPENAI_KEY=% node server.js',
  'set API_KEY=%',
  '$env:API_KEY = "%"',
  'ENV SECRET_KEY=%',
  'token = %',
  'password: %',
  '  password: "%"',
  "  - api_key: '%'",
  'db:\n  user: bob\n  password: %\n  port: 5432',
  'private_key: |\n    %\n    %\nnext: 1',
  'api_key : %',
  'API key: %',
  'Access token: %',
  'Secret access key = %',
  '密码：%',
  'const token = "%"',
  "let apiKey='%';",
  'password = f"%"',
  'config["apiKey"] = "%"',
  "headers['Authorization'] = 'Bearer %'",
  'if (password === "%") return',
  ':password => "%"',
  'token := "%"',
  'login(user, password="%")',
  'Authorization: Bearer %',
  'authorization: basic %',
  'Authorization: %',
  'Proxy-Authorization: Basic %',
  'X-Api-Key: %',
  'Cookie: session=%; theme=dark',
  'Set-Cookie: sid=%; Path=/; HttpOnly',
  'GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Token %\r\nAccept: */*',
  'curl -H "Authorization: Bearer %" https://h.example',
  "curl -H 'X-Api-Key: %' https://h.example",
  'curl -u bob:% https://h.example',
  'curl --user "bob:%" https://h.example',
  'deploy --token % --verbose',
  'deploy --token=% --verbose',
  "deploy --api-key '%'",
  'java -jar x.jar -password %',
  'login --pass "%" --user bob',
  'Server=db;User Id=sa;Password=%;Encrypt=true',
  'Endpoint=sb://h.example/;SharedAccessKeyName=Root;SharedAccessKey=%=',
  'DefaultEndpointsProtocol=https;AccountName=n;AccountKey=%==;EndpointSuffix=core.example',
  'host=db user=bob password=% dbname=x',
  'jdbc:postgresql://db.example/x?user=bob&password=%',
  'connect with postgres://bob:%@db.example:5432/x please',
  'mongodb+srv://bob:%@c0.example/x?retryWrites=true',
  'redis://:%@cache.example:6379/0',
  'amqp://bob:%@mq.example//',
  'git clone https://%@git.example/o/r',
  'https://oauth2:%@git.example/o/r.git',
  '//bob:%@h.example/x',
  'bob:%@h.example:5432',
  'see (https://h.example/cb?access_token=%) there',
  'https://h.example/x?sig=%&se=2030-01-01',
  'https://h.example/x?a=1&auth=%',
  'https://h.example/x?key=%&b=2',
  'https://h.example/cb?code=%&state=1',
  'https://b.s3.example/o?X-Amz-Credential=1&X-Amz-Signature=%',
  'https://h.example/x?a=1&amp;token=%',
  '/relative?api-key=%#top',
  'https://h.example/#id_token=%',
  'https://h.example/in?to=https%3A%2F%2Fx.example%3Ftoken%3D%',
  'https://h/services/T0/B0/%',
  'https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/%',
  'https://discord.com/api/webhooks/123456789012/%',
  'https://hooks.zapier.com/hooks/catch/123456/%',
  'https://x.webhook.office.com/webhookb2/%/IncomingWebhook/1/2',
  'https://api.telegram.org/bot123456789:%AAAAAAAA/sendMessage',
  'log: {"password":"%" and so on',
  'got {"user":"bob","token":"%"} from the server',
  'body {\\"api_key\\": \\"%\\"} refused',
  "{'password': '%', 'n': 1}",
  '{user: bob, password: %}',
  'credentials: ["%", "%"]',
  'tokens = [ %, % ]',
  '<password>%</password>',
  '<a:apiKey id="1">%</a:apiKey>',
  'grant_type=password&username=bob&password=%',
  'user[password]=%&x=1',
  'error for Bearer % at line 5',
  'token: "%',
  '# password: %',
  '//registry.example/:_authToken=%',
  'machine h.example login bob password %',
  'https://h.example/x?token="%"',
  'my password is %',
  'the token is now: %.',
  'password %, do not tell',
  'aws configure set aws_secret_access_key %',
  'setx API_TOKEN %',
  'sshpass -p % ssh bob@h.example',
  'mysql -u root -p% app',
  'env:\n  - name: DB_PASSWORD\n    value: %\n  - name: MODE\n    value: prod',
  'env:\n  - name: DB_PASSWORD\n    value: "%"',
  "{ name: 'Authorization', value: '%' }",
  '<add key="ApiKey" value="%" />',
  'kubectl create secret generic db --from-literal=password=%',
  "curl -d 'password=%' https://h.example",
  'your otp: % (10 minutes)',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a shell's default value.
  'TOKEN=${TOKEN:-%}',
  'password: <%>',
  'API_KEY={{ key | default("%") }}',
]

/** Objects and lists with a place for a secret. */
const shapes: Record<string, (secret: string) => Json> = {
  'name and value': (secret) => ({ name: 'Authorization', value: secret }),
  'name and value, the value first': (secret) => ({ value: secret, name: 'X-Api-Key', enabled: true }),
  'key and value': (secret) => ({ key: 'DB_PASS', value: secret }),
  'header and values': (secret) => ({ header: 'Cookie', values: [secret, secret] }),
  'env name and value': (secret) => ({ name: 'OPENAI_KEY', value: secret, scope: 'all' }),
  'type and value': (secret) => ({ type: 'password', value: secret }),
  'name and object': (secret) => ({ name: 'credentials', value: { first: secret } }),
  'list of pairs': (secret) => [
    { k: 'a', v: '1' },
    { k: 'password', v: secret },
  ],
  tuple: (secret) => ['Authorization', secret],
  tuples: (secret) => [
    ['Host', 'h.example'],
    ['X-Api-Key', secret],
  ],
  'raw headers': (secret) => ['Host', 'h.example', 'Authorization', secret],
  'option and argument': (secret) => ['deploy', '--api-key', secret, '--verbose'],
  'option with argument': (secret) => ['deploy', `--token=${secret}`],
  'header option': (secret) => ['-H', `Authorization: Bearer ${secret}`, 'https://h.example'],
  'account option': (secret) => ['curl', '-u', `bob:${secret}`],
  'all below a name': (secret) => ({ credentials: { user: { first: [secret] } } }),
  'a list below a name': (secret) => ({ apiKeys: [secret, secret] }),
  keys: (secret) => ({ keys: [{ kid: secret }] }),
  'environment of a server': (secret) => ({ command: 'npx', args: ['-y', 'server'], env: { GITHUB_TOKEN: secret } }),
  'a key that holds it': (secret) => ({ [`https://bob:${secret}@h.example/`]: true }),
}

function lineForm(line: string): Form {
  return { form: line, plant: (secret) => line.replace(/%(?![0-9A-F]{2})/g, () => secret) }
}

/** Every form in which a secret of letters and digits is planted. */
export const plantedForms: readonly Form[] = [
  ...names.map((name): Form => ({ form: `under ${name}`, plant: (secret) => ({ [name]: secret, other: 'kept' }) })),
  ...lines.map(lineForm),
  ...Object.entries(shapes).map(([form, plant]): Form => ({ form, plant })),
]

type Made = { readonly form: string; make(random: (alphabet: string, length: number) => string): string }

const digits = '0123456789'
const hex = `${digits}abcdef`
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const alphanumeric = `${digits}${upper}${upper.toLowerCase()}`
const base64url = `${alphanumeric}_-`

/** Secrets that are known by their own form, made of random characters. */
export const tokenForms: readonly Made[] = [
  { form: 'JSON web token', make: (r) => `eyJhbGciOiJIUzI1NiJ9.eyJ${r(base64url, 30)}.${r(base64url, 43)}` },
  { form: 'unsigned JSON web token', make: (r) => `eyJhbGciOiJub25lIn0.eyJ${r(base64url, 30)}.` },
  { form: 'AWS access key', make: (r) => `AKIA${r('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}` },
  { form: 'AWS session key', make: (r) => `ASIA${r('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}` },
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map((kind) => ({
    form: `GitHub ${kind}`,
    make: (r: (alphabet: string, length: number) => string) => `${kind}_${r(alphanumeric, 36)}`,
  })),
  { form: 'GitHub fine-grained', make: (r) => `github_pat_${r(alphanumeric, 22)}_${r(alphanumeric, 59)}` },
  { form: 'GitLab', make: (r) => `glpat-${r(base64url, 20)}` },
  { form: 'Slack bot', make: (r) => `xoxb-${r(digits, 12)}-${r(digits, 12)}-${r(alphanumeric, 24)}` },
  { form: 'Slack user', make: (r) => `xoxp-${r(digits, 11)}-${r(digits, 11)}-${r(hex, 32)}` },
  { form: 'sk-', make: (r) => `sk-${r(alphanumeric, 47)}7` },
  { form: 'sk-proj-', make: (r) => `sk-proj-${r(base64url, 60)}7` },
  { form: 'sk-ant-', make: (r) => `sk-ant-api03-${r(base64url, 93)}AA` },
  { form: 'Stripe', make: (r) => `sk_live_${r(alphanumeric, 23)}7` },
  { form: 'webhook signing', make: (r) => `whsec_${r(alphanumeric, 31)}7` },
  { form: 'SendGrid', make: (r) => `SG.${r(base64url, 22)}.${r(base64url, 42)}7` },
  { form: 'Google API', make: (r) => `AIza${r(base64url, 34)}7` },
  { form: 'npm', make: (r) => `npm_${r(alphanumeric, 36)}` },
  { form: 'Hugging Face', make: (r) => `hf_${r(`${upper}${upper.toLowerCase()}`, 34)}` },
  { form: 'Groq', make: (r) => `gsk_${r(alphanumeric, 52)}` },
  { form: 'Shopify', make: (r) => `shpat_${r(hex, 32)}` },
  { form: 'Vault', make: (r) => `hvs.${r(base64url, 95)}` },
  { form: 'Databricks', make: (r) => `dapi${r(hex, 32)}` },
  { form: 'DigitalOcean', make: (r) => `dop_v1_${r(hex, 64)}` },
  { form: 'Telegram bot', make: (r) => `${r('123456789', 9)}:AA${r(base64url, 33)}` },
  {
    form: 'private key',
    make: (r) =>
      `-----BEGIN RSA PRIVATE KEY-----\n${r(alphanumeric, 64)}\n${r(alphanumeric, 40)}==\n-----END RSA PRIVATE KEY-----`,
  },
  {
    form: 'private key, cut off',
    make: (r) => `-----BEGIN OPENSSH PRIVATE KEY-----\n${r(alphanumeric, 64)}\n${r(alphanumeric, 30)}`,
  },
]

/** Texts with a place for a token that is known by its form. */
export const tokenLines: readonly string[] = [
  '%',
  'see % there',
  'value=%',
  '"%"',
  'https://h.example/x/%',
  'a,%,b',
  '(%)',
  'note: %.',
]
