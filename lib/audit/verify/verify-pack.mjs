// Verifies an evidence pack of an audit trail, in the folder that this file lies in:
//
//   node verify.mjs [--key-id <64 hex digits>]
//
// Needs Node.js 18 or later and nothing else. AUDIT-FORMAT.md says what is checked and why. Give --key-id the id of the
// signing key that you were told by another way: without it, a pack that was made anew as a whole looks right.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dir = dirname(fileURLToPath(import.meta.url))
const say = (text) => process.stdout.write(`${text}\n`)
// What is not understood is refused: a key that was passed over would look like one that was checked.
const args = /^(?:--key-id[ =]([0-9a-f]{64}))?$/i.exec(process.argv.slice(2).join(' '))
if (!args) {
  say('Usage: node verify.mjs [--key-id <64 hex digits>]')
  process.exit(2)
}
const trusted = args[1]?.toLowerCase() ?? null
const faults = []
const fault = (place, message) => faults.push(`${place}: ${message}`)
const read = (path) => (existsSync(join(dir, path)) ? readFileSync(join(dir, path)) : null)
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

const filesBelow = (path) =>
  readdirSync(join(dir, path), { withFileTypes: true }).flatMap((entry) => {
    const below = path === '' ? entry.name : `${path}/${entry.name}`
    return entry.isDirectory() ? filesBelow(below) : [below]
  })

const keys = new Map()
const keyFor = (keyId) => {
  if (!keys.has(keyId)) keys.set(keyId, loadKey(keyId))
  return keys.get(keyId)
}
const loadKey = (keyId) => {
  const path = `audit/keys/${keyId}.pem`
  try {
    const key = createPublicKey(read(path))
    if (sha256(key.export({ type: 'spki', format: 'der' })) === keyId) return key
  } catch {
    // Said below.
  }
  fault(path, 'is missing or is not the key that its name says')
  return null
}

const checkSignature = (path, bytes, { keyId, signaturePath }) => {
  if (trusted && keyId !== trusted) return fault(path, `is signed by the key ${keyId}, which is not the one given`)
  const key = /^[0-9a-f]{64}$/.test(keyId) ? keyFor(keyId) : fault(path, 'names no key')
  if (!key) return
  const signature = read(signaturePath)
  if (!signature) return fault(signaturePath, 'is not there')
  let right = false
  try {
    right = verify('sha256', bytes, key, signature)
  } catch {
    // A malformed signature is a wrong one.
  }
  if (!right) fault(signaturePath, `is not a signature of ${path} by the key ${keyId}`)
}

// 1. The pack is what was exported: every file as listed, and no other.
const checkManifest = () => {
  const bytes = read('manifest.json')
  if (!bytes) return fault('manifest.json', 'is not there')
  let manifest
  try {
    manifest = JSON.parse(bytes)
    checkSignature('manifest.json', bytes, { keyId: String(manifest.keyId), signaturePath: 'manifest.sig' })
    const others = new Set(filesBelow('').filter((path) => path !== 'manifest.json' && path !== 'manifest.sig'))
    for (const { path, sha256: expected } of manifest.files) {
      others.delete(path)
      const content = read(path)
      if (!content) fault(path, 'is listed in manifest.json, but not there')
      else if (sha256(content) !== expected) fault(path, 'is not the file that manifest.json lists')
    }
    for (const path of others) fault(path, 'is not listed in manifest.json')
  } catch (error) {
    fault('manifest.json', `can't be read (${error.message})`)
  }
  return manifest
}

// 2. A chain: each object has the hash that it states, and names the hash of the one before it.
const genesis = '0'.repeat(64)
function* chain(series) {
  const prefix = `audit/${series}/`
  const names = existsSync(join(dir, prefix)) ? readdirSync(join(dir, prefix)).sort() : []
  let sequence = 0
  let before = genesis
  for (const name of names.filter((each) => each.endsWith('.json'))) {
    sequence += 1
    const path = prefix + name
    const expected = `${String(sequence).padStart(10, '0')}.json`
    if (name !== expected) return fault(prefix + expected, 'is not there')
    const bytes = readFileSync(join(dir, path))
    const hash = sha256('{', bytes.subarray(75))
    if (bytes.subarray(0, 75).toString('latin1') !== `{"hash":"${hash}",`) {
      return fault(path, `does not state the hash that its bytes have, ${hash}`)
    }
    const value = JSON.parse(bytes)
    if (value.sequence !== sequence) return fault(path, `holds the object with sequence ${value.sequence}`)
    if (value.previousHash !== before) return fault(path, 'does not follow from the object before it')
    before = hash
    yield { path, bytes, value, hash }
  }
}

// 3. Digests vouch for entries and findings. All three chains are read once, side by side.
const openChain = (series) => {
  const objects = chain(series)
  const state = { count: 0, hash: genesis }
  const next = () => {
    const { done, value } = objects.next()
    if (!done) Object.assign(state, { count: state.count + 1, hash: value.hash })
    return !done
  }
  const reachTo = (mark, witness) => {
    while (state.count < mark.sequence && next());
    const right = state.count === mark.sequence && (mark.sequence === 0 || state.hash === mark.hash)
    if (!right)
      fault(witness, `vouches for ${mark.sequence} ${series} ending in ${mark.hash}; ${state.count} were found`)
  }
  const drain = () => {
    const vouched = state.count
    while (next());
    if (state.count > vouched)
      fault(`audit/${series}/`, `${state.count - vouched} objects come after the newest digest`)
  }
  return { state, reachTo, drain }
}

const manifest = checkManifest()
const entries = openChain('entries')
const findings = openChain('findings')
let newest = null
let newestPath = ''
let digests = 0
for (const { path, bytes, value } of chain('digests')) {
  digests += 1
  checkSignature(path, bytes, { keyId: value.keyId, signaturePath: path.replace(/json$/, 'sig') })
  if (newest?.nextDueAt && Date.parse(value.writtenAt) > Date.parse(newest.nextDueAt)) {
    fault(newestPath, `was followed on ${value.writtenAt}, but the next was due by ${newest.nextDueAt}`)
  }
  entries.reachTo(value.head.entries, path)
  findings.reachTo(value.head.findings, path)
  newest = value
  newestPath = path
}
entries.drain()
findings.drain()
if (digests === 0) fault('audit/digests/', 'holds no digest: nothing vouches for the entries')
for (const [series, { sequence }] of Object.entries(manifest?.head ?? {})) {
  const found = { entries: entries.state.count, findings: findings.state.count, digests }[series]
  if (found !== sequence) fault('manifest.json', `says ${sequence} ${series}, but ${found} were verified`)
}

say(`Checked ${entries.state.count} entries, ${findings.state.count} findings, ${digests} digests.`)
if (newest) say(`The newest digest is of ${newest.writtenAt}, signed by the key ${newest.keyId}.`)
if (!trusted) say('Compare the id of the key with what you were told by another way, or give it as --key-id.')
for (const text of faults) say(`FAULT ${text}`)
say(
  faults.length === 0
    ? 'The evidence is complete and unaltered.'
    : faults.length === 1
      ? '1 fault was found.'
      : `${faults.length} faults were found.`,
)
process.exitCode = faults.length === 0 ? 0 : 1
