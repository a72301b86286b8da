type Random = (alphabet: string, length: number) => string

const hex = '0123456789abcdef'
const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const base32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const alphanumeric = base64.slice(0, 62)

/** Texts that look made and are none of anyone's secrets. */
export const madeTexts: Record<string, (random: Random) => string> = {
  'commit hash': (r) => r(hex, 40),
  'short commit hash': (r) => r(hex, 7),
  'commit in a sentence': (r) => `Merge commit ${r(hex, 40)} into main`,
  'SHA-256 digest': (r) => `sha256:${r(hex, 64)}`,
  'integrity of a package': (r) => `sha512-${r(base64, 86)}==`,
  UUID: (r) => uuid(r),
  'UUID with a prefix': (r) => `user_${uuid(r)}`,
  'UUID in capitals': (r) => uuid(r).toUpperCase(),
  'UUID in a path': (r) => `/api/v0/sessions/${uuid(r)}/messages`,
  ULID: (r) => r(base32, 26),
  'message id': (r) => `msg_01${r(alphanumeric, 22)}`,
  'tool call id': (r) => `toolu_01${r(alphanumeric, 22)}`,
  'request id': (r) => `req_${r(alphanumeric, 24)}`,
  'base64 image': (r) => `data:image/png;base64,iVBORw0KGgo${r(base64, 300)}==`,
  'bare base64': (r) => `/9j/4AAQSkZJRgABAQ${r(base64, 300)}=`,
  ETag: (r) => `"${r(hex, 32)}-5"`,
  time: (r) =>
    `2024-0${1 + Number(r('12345678', 1))}-1${r('0123456789', 1)}T0${r('0123456789', 1)}:${r('012345', 1)}0:00.000Z`,
  'image digest': (r) => `registry.example/team/app@sha256:${r(hex, 64)}`,
  trace: (r) => `00-${r(hex, 32)}-${r(hex, 16)}-01`,
  'colour and size': (r) => `color: #${r(hex, 6)}; width: ${r('123456789', 3)}px`,
  'commit link': (r) => `https://github.com/org/repo/commit/${r(hex, 40)}`,
  'issue link': (r) => `https://github.com/org/repo/issues/${r('123456789', 4)}#issuecomment-${r('123456789', 9)}`,
  'video link': (r) => `https://video.example/watch?v=${r(alphanumeric, 11)}&t=42`,
  'page of a list': (r) => `https://api.example/v1/items?page=${r('123456789', 2)}&limit=100&order=desc`,
  'object in a bucket': (r) => `s3://bucket/changes/sessions/dt=2024-05-01/run=${r(hex, 12)}/0-1.parquet`,
  ARN: (r) => `arn:aws:secretsmanager:eu-west-1:${r('0123456789', 12)}:secret:prod/db-${r(alphanumeric, 6)}`,
  'IPv6 address': (r) => `2001:db8:${r(hex, 4)}:${r(hex, 4)}::1`,
  'MAC address': (r) => Array.from({ length: 6 }, () => r(hex, 2)).join(':'),
  'stack frame': (r) => `    at Object.run (/srv/app/lib/core/${r('abcdef', 5)}.ts:${r('123456789', 2)}:17)`,
  'diff header': (r) => `index ${r(hex, 7)}..${r(hex, 7)} 100644`,
}

function uuid(r: Random): string {
  return [8, 4, 4, 4, 12].map((length) => r(hex, length)).join('-')
}

/** What people, programs and models write about keys and passwords, and beside them. */
export const writtenTexts: readonly string[] = `
the token count is 5
The token limit of this model is 200000 tokens; we used 4096.
Forgot your password? Click here to reset it.
Passwords must have at least 12 characters and one digit.
Use a token: it is safer than a password.
Your password: please do not share it.
Password: must be changed every 90 days
Never put a secret into the code; use the vault instead.
Set the API key in the settings page, then restart.
The key: keep it simple.
Rotate the signing key every year.
Authorization: see the chapter on roles
Note on auth: sessions end after 12 hours.
The bearer of this letter is my friend.
Basic knowledge of SQL is enough.
Please pass the salt. All tests pass: yes.
pass: 12, fail: 0, skipped: 1
Tests passed: 154, failed: 2
The cookie banner: show it once.
Use the --token option to pass it on the command line.
Pass --password to be asked for it.
Run npm test -- --reporter=dot
rm -rf ./dist && npm run build --workspaces
git log --author=bob --since=2024-01-01 --format=%H
docker run -u 1000:1000 -p 8080:80 -v /data:/data image:1.2.3
curl -sS -X POST https://api.example/v1/items -d @body.json
kubectl get secrets -n prod -o name
aws s3 cp s3://bucket/key ./key --profile prod --region eu-west-1
ssh -i ~/.ssh/id_ed25519 git@github.com
export PATH=$HOME/bin:$PATH
export TOKEN=$(cat token.txt)
export GITHUB_TOKEN=$GH_TOKEN
DB_PASSWORD=\${DB_PASSWORD}
TOKEN={{ secrets.TOKEN }}
password: "{{ vault_password }}"
api_key: <your api key>
API_KEY=***
PWD=/home/bob/project
SSH_KEY=~/.ssh/id_ed25519
private_key: /etc/ssl/private/server.pem
key_file: C:\\\\Users\\\\bob\\\\key.pem
apiKey: \${{ secrets.API_KEY }}
NODE_ENV=production PORT=3000
max_tokens=4096 temperature=0.2 top_p=1
maxOutputTokens: 8192
tokenTtlDays: 30
token_ttl = 15m
password_min_length: 12
passwordChangedAt: 2024-05-01T00:00:00Z
authEnabled: true
auth: none
auth: basic
tokenType: Bearer
"token_type": "bearer", "expires_in": 3600
secretName: db-credentials
keyboard: german
primary_key: id
const token = await getToken()
const token = process.env.TOKEN
const apiKey = config.get('apiKey')
let password = prompt("Password?")
if (token === null) return undefined
if (!token) throw new Error("no token")
return { token, user }
function login(user: string, password: string): Promise<Token> {
  token: string
  apiKey?: string;
  private readonly auth: AuthService,
def connect(host, password=None, token=None):
self.password = password
login(user=user, password=password)
token := r.Header.Get("X-Token")
String token = request.getHeader("Authorization");
$token = $this->getToken();
headers: { Authorization: \`Bearer \${token}\` }
SELECT id, password_hash FROM users WHERE token = ?
CREATE TABLE keys (key TEXT PRIMARY KEY, value TEXT)
type Props = { tokens: number; keys: string[] }
import { createToken } from './token.ts'
tokens.filter((token) => token.length > 3)
const keys = Object.keys(record)
for (const [key, value] of Object.entries(map)) console.log(key, value)
document.cookie.split('; ')
<input type="password" name="password" placeholder="Password">
<label for="token">Token</label>
{"inputTokens": 5, "outputTokens": 7, "tokenUsage": {"total": 12}}
{"name": "team", "metadata": {"value": "web"}}
{"key": "status", "value": "done"}
["password", "token", "secret"]
{"type": "keyword", "value": "const"}
required: ["apiKey", "token"]
README.md
lib/redaction/secret-paths.ts
/usr/local/lib/node_modules/npm/bin/npm-cli.js
C:\\Users\\bob\\AppData\\Local\\Temp\\build-2024
../../packages/token-store/src/index.ts
apps/web/.env.example
claude-opus-4-5-20251101
gpt-4o-mini-2024-07-18
gemini-2.5-pro-preview-05-06
meta-llama/Llama-3.3-70B-Instruct
anthropic.claude-3-5-sonnet-20241022-v2:0
custom:team-llm-0
atlas-large
node:20-alpine
react@18.2.0
npm:react@18.2.0
@scope/package@1.2.3-beta.4
bob@example.com
mailto:bob@example.com?subject=token
From: Bob <bob@example.com>
git@github.com:org/repo.git
ssh://git@github.com/org/repo.git
https://github.com/org/repo.git
https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
https://react.dev/reference/react/hooks
https://docs.example/guide/hooks/useState
https://docs.example/api/authentication#bearer-token
https://en.wikipedia.org/wiki/Password_strength?action=view
https://www.example.com/search?q=how+to+reset+password&lang=en
https://example.com/docs?tab=readme&version=2
https://registry.example/@scope/package/-/package-1.0.0.tgz
https://user.example/profile/settings/api-keys
http://localhost:3000/api/health?verbose=1
http://[::1]:8080/
wss://relay.example.com/connect/cmp_1
postgres://localhost:5432/app
redis://cache.example:6379/0
jdbc:postgresql://db.example:5432/app?ssl=true
meeting at 10:30@office, room 5
ratio 16:9, score 3:2, time 12:45:10
key=value pairs, one per line
a=b&c=d
x = y + z; i += 1; a == b
E = mc^2
Übersetzung: Schlüsselwort und Passage
Le mot clé de la page
这是一个普通的句子：没有秘密
パスワードを忘れた場合
Забыли пароль? Подключение включено: да
- [ ] rotate keys
| name | type | secret |
### Tokens and keys
> Authorization is handled elsewhere.
# token usage per day
-----BEGIN CERTIFICATE-----
-----BEGIN PUBLIC KEY-----MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A-----END PUBLIC KEY-----
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHn7c3mZ bob@example.com
sk-learn-contrib and sk-image are packages
The skeleton-key-pattern is described in chapter 4.
Missing in 1 of 2.
No token was found.
Found in every application.
Fix login
Refactor the token parser
Add a password field to the form
Speed up retries
`
  .trim()
  .split('\n')
