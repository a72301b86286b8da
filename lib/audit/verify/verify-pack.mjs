// Verifies an evidence pack of an audit trail, in the folder that this file lies in:
//
//   node verify.mjs [--key-id <64 hex digits>]... [--expect <64 hex digits>] [--as-of <time, UTC>]
//
// Needs Node.js 18 or later and nothing else. AUDIT-FORMAT.md says what is checked and why. Give --key-id the id of the
// signing key that you were told by another way (of each, if it was replaced): without it, a pack that was made anew as a
// whole looks right. Give --expect the hash of a digest that you noted, or --as-of a time: without them, an older pack in
// the place of a newer one looks right.
import { createHash, createPublicKey, verify } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dir = dirname(fileURLToPath(import.meta.url))
const say = (text) => process.stdout.write(`${text}\n`)

// What is not understood is refused: a key that was passed over would look like one that was checked.
const hex = /^[0-9a-f]{64}$/i
const time = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/
const readOptions = (args) => {
  const options = { 'key-id': [], expect: [], 'as-of': [] }
  const forms = { 'key-id': hex, expect: hex, 'as-of': time }
  for (let at = 0; at < args.length; at++) {
    const [, name, inline] = /^--(key-id|expect|as-of)(?:=(.*))?$/.exec(args[at]) ?? []
    const value = inline ?? args[++at] ?? ''
    if (name === undefined || !forms[name].test(value)) return null
    options[name].push(name === 'as-of' ? Date.parse(value) : value.toLowerCase())
  }
  return options['as-of'].some(Number.isNaN) ? null : options
}
const options = readOptions(process.argv.slice(2))
if (!options) {
  say('Usage: node verify.mjs [--key-id <64 hex digits>]... [--expect <64 hex digits>] [--as-of <2026-05-06 (UTC)>]')
  process.exit(2)
}
const { 'key-id': trusted, expect: expected, 'as-of': asOf } = options
const faults = []
const fault = (place, message) => faults.push(`${place}: ${message}`) && null
const read = (path) => (existsSync(join(dir, path)) ? readFileSync(join(dir, path)) : null)
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')
const json = (bytes) => {
  try {
    return JSON.parse(bytes)
  } catch {
    return null
  }
}
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
  return fault(path, 'is missing or is not the key that its name says')
}

// A signature is two numbers, r and s, in DER. With (r, s) also (r, order - s) proves the same; the lower s is the written
// form. What was signed says so in signatureForm; before that, either was written.
const order = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')
const der = (value) => {
  const digits = value.toString(16)
  const bytes = Buffer.from(digits.length % 2 ? `0${digits}` : digits, 'hex')
  const positive = bytes[0] > 0x7f ? Buffer.concat([Buffer.from([0]), bytes]) : bytes
  return Buffer.concat([Buffer.from([2, positive.length]), positive])
}
const formOf = (signature) => {
  const end = 4 + signature[3]
  const [r, s] = [signature.subarray(4, end), signature.subarray(end + 2)].map((part) =>
    BigInt(`0x0${part.toString('hex')}`),
  )
  const integers = Buffer.concat([der(r), der(s)])
  if (!Buffer.concat([Buffer.from([0x30, integers.length]), integers]).equals(signature)) return null
  return s > order / BigInt(2) ? 'high-s' : 'low-s'
}

let signedInEitherForm = 0
const checkSignature = (path, bytes, { keyId, signatureForm, signaturePath }) => {
  if (trusted.length > 0 && !trusted.includes(keyId)) {
    return fault(path, `is signed by the key ${keyId}, which is not the one given`)
  }
  const key = hex.test(keyId) ? keyFor(keyId) : fault(path, 'names no key')
  if (!key) return null
  const signature = read(signaturePath)
  if (!signature) return fault(signaturePath, 'is not there')
  let form = null
  try {
    if (verify('sha256', bytes, key, signature)) form = formOf(signature)
  } catch {
    // A malformed signature is a wrong one.
  }
  if (!form) return fault(signaturePath, `is not a signature of ${path} by the key ${keyId}`)
  if (signatureForm === undefined) signedInEitherForm += 1
  else if (form !== signatureForm) fault(signaturePath, 'is in another form than it was written in (high s)')
  return true
}

// 1. The pack is what was exported: every file as listed, and no other.
const checkManifest = () => {
  const bytes = read('manifest.json')
  if (!bytes) return fault('manifest.json', 'is not there')
  const manifest = json(bytes)
  if (!Array.isArray(manifest?.files)) return fault('manifest.json', 'is no list of a pack')
  checkSignature('manifest.json', bytes, { ...manifest, signaturePath: 'manifest.sig' })
  const others = new Set(filesBelow('').filter((path) => path !== 'manifest.json' && path !== 'manifest.sig'))
  for (const { path, sha256: listed } of manifest.files) {
    others.delete(path)
    const content = read(path)
    if (!content) fault(path, 'is listed in manifest.json, but not there')
    else if (sha256(content) !== listed) fault(path, 'is not the file that manifest.json lists')
  }
  for (const path of others) fault(path, 'is not listed in manifest.json')
  return manifest
}

// 2. A chain: each object has the hash that it states, and names the hash of the one before it. What is wrong is said at
// its own place; of an object that is wrong nothing is concluded for others, and its hash and value are null.
const genesis = '0'.repeat(64)
const pathOf = (series, sequence) => `audit/${series}/${String(sequence).padStart(10, '0')}.json`
const missing = (series, from, to) =>
  from === to
    ? fault(pathOf(series, from), 'is not there')
    : fault(`${pathOf(series, from)} to ${pathOf(series, to)}`, 'are not there')
function* chain(series) {
  const names = existsSync(join(dir, 'audit', series)) ? readdirSync(join(dir, 'audit', series)).sort() : []
  let last = 0
  let before = genesis
  for (const sequence of names.filter((each) => /^\d{10}\.json$/.test(each)).map((name) => Number(name.slice(0, 10)))) {
    if (sequence > last + 1) before = missing(series, last + 1, sequence - 1)
    last = sequence
    const path = pathOf(series, sequence)
    const bytes = readFileSync(join(dir, path))
    const value = objectOf(path, { bytes, sequence })
    const hash = value && sha256('{', bytes.subarray(75))
    if (value && before && value.previousHash !== before) fault(path, 'does not follow from the object before it')
    before = hash
    yield { path, bytes, sequence, value, hash }
  }
}
const objectOf = (path, { bytes, sequence }) => {
  const hash = sha256('{', bytes.subarray(75))
  if (bytes.subarray(0, 75).toString('latin1') !== `{"hash":"${hash}",`) {
    return fault(path, `does not state the hash that its bytes have, ${hash}`)
  }
  const value = json(bytes)
  if (!value || (path.startsWith('audit/digests/') && !value.head))
    return fault(path, 'has a right hash, but is not of this format')
  return value.sequence === sequence ? value : fault(path, `holds the object with sequence ${value.sequence}`)
}

// 3. Digests vouch for entries and findings. All three chains are read once, side by side.
const openChain = (series) => {
  const objects = chain(series)
  const state = { count: 0, sequence: 0 }
  let current = null
  let ahead = objects.next()
  const next = () => {
    current = ahead.value
    state.sequence = current.sequence
    if (current.value) state.count += 1
    ahead = objects.next()
  }
  const reachTo = (mark, witness) => {
    while (!ahead.done && ahead.value.sequence <= mark.sequence) next()
    if (state.sequence > mark.sequence)
      fault(witness, `vouches for ${mark.sequence} ${series}, fewer than the one before it`)
    else if (state.sequence < mark.sequence && ahead.done) {
      missing(series, state.sequence + 1, mark.sequence)
      state.sequence = mark.sequence
      current = null
    } else if (current?.sequence === mark.sequence && current.hash && current.hash !== mark.hash)
      fault(current.path, `has not the hash that ${witness} vouches for`)
  }
  const drain = () => {
    while (!ahead.done) {
      next()
      fault(current.path, 'comes after the newest digest')
    }
  }
  return { state, reachTo, drain }
}

const manifest = checkManifest()
const entries = openChain('entries')
const findings = openChain('findings')
let newest = null
let digests = 0
let last = 0
const found = new Set()
for (const { path, bytes, sequence, value, hash } of chain('digests')) {
  last = sequence
  if (!value) continue
  digests += 1
  entries.reachTo(value.head.entries, path)
  findings.reachTo(value.head.findings, path)
  if (!checkSignature(path, bytes, { ...value, signaturePath: path.replace(/json$/, 'sig') })) continue
  const isNext = newest?.sequence === sequence - 1
  if (isNext && newest.nextDueAt && Date.parse(value.writtenAt) > Date.parse(newest.nextDueAt)) {
    fault(newest.path, `was followed on ${value.writtenAt}, but the next was due by ${newest.nextDueAt}`)
  }
  newest = { ...value, path, hash }
  found.add(hash)
}
entries.drain()
findings.drain()
if (digests === 0) fault('audit/digests/', 'holds no digest: nothing vouches for the entries')
const reached = { entries: entries.state.sequence, findings: findings.state.sequence, digests: last }
for (const [series, { sequence }] of Object.entries(manifest?.head ?? {})) {
  if (reached[series] !== sequence)
    fault('manifest.json', `says ${sequence} ${series}, but ${reached[series]} were found`)
}

// 4. What you know from elsewhere.
for (const hash of expected) {
  if (!found.has(hash))
    fault('audit/digests/', `holds no digest with the hash ${hash}: this is an older pack, or of another trail`)
}
for (const ms of asOf) {
  if (!newest || Date.parse(newest.writtenAt) < ms) {
    fault(newest?.path ?? 'audit/digests/', `the newest digest is older than ${new Date(ms).toISOString()}`)
  }
}

say(`Checked ${entries.state.count} entries, ${findings.state.count} findings, ${digests} digests.`)
if (newest)
  say(`The newest digest is of ${newest.writtenAt}, signed by the key ${newest.keyId}. Its hash is ${newest.hash}.`)
if (trusted.length === 0)
  say('Compare the id of the key with what you were told by another way, or give it as --key-id.')
if (expected.length + asOf.length === 0) {
  say('An older pack looks the same: compare the hash with one that you noted (--expect), or the time (--as-of).')
}
if (signedInEitherForm > 0) {
  say(`NOTE ${signedInEitherForm} signatures are older than the one form: a change to their other form is not seen.`)
}
for (const text of faults) say(`FAULT ${text}`)
if (faults.length > 0) say(faults.length === 1 ? '1 fault was found.' : `${faults.length} faults were found.`)
else say(`The evidence is complete and unaltered up to digest ${newest.sequence} of ${newest.writtenAt}.`)
process.exitCode = faults.length === 0 ? 0 : 1
