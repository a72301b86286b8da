import { signatureKeyOf } from '../trail/digest.ts'
import type { ChainHeads } from '../trail/head.ts'
import { keyOf } from '../trail/sealed.ts'
import { verdictOf } from './verify.ts'

/** What the README of an evidence pack tells of this pack. */
export type PackFacts = {
  /** ISO 8601, UTC. */
  exportedAt: string
  head: ChainHeads
  /** When the newest digest was written. */
  digestAt: string
  /** The names of the public keys in the pack. */
  keys: readonly string[]
  /** True when the page for people is in it. */
  hasReport: boolean
}

/** The file's name: every system opens a .txt by a click. */
export const readmePath = 'README.txt'

/**
 * The README of an evidence pack, for somebody who is no programmer: what each file is, and how to check them step by
 * step. It must not say which key and which digest are right: whoever could alter the pack could alter that, too.
 */
export function packReadme(facts: PackFacts): string {
  return `EVIDENCE OF THE ENTERPRISE SETTINGS
Written ${facts.exportedAt} (all times are UTC)

This folder holds the history of an organization's settings: each time somebody changed them, what they were then, who
changed them and when. It also holds what shows that nothing was changed, removed or added afterwards. You can check
that yourself, without a connection to anything, and without trusting who gave you this folder.

${contents(facts)}
${steps(facts)}
${limits}`
}

function contents({ head, keys, hasReport }: PackFacts): string {
  const rows: [name: string, meaning: string][] = [
    [readmePath, 'This text.'],
    ...(hasReport
      ? [
          ['report.html', 'The page to read: who changed what and when. A click opens it in a browser.'] as [
            string,
            string,
          ],
        ]
      : []),
    ['verify.mjs', 'The program that checks this folder (step 3).'],
    ['AUDIT-FORMAT.md', 'For programmers: how everything is stored, to write a program of their own.'],
    ['manifest.json', 'The list of all files here, each with its size and its fingerprint (SHA-256).'],
    ['manifest.sig', 'The signature under that list.'],
    [range('entries', head), 'One file for each change of the settings, in the order recorded.'],
    [range('findings', head), 'One file for each thing found wrong with the history.'],
    [range('digests', head), 'Statements of how far the history reached on a day.'],
    [range('digests', head, signatureKeyOf), 'The signatures under those statements.'],
    ...keys.map((name): [string, string] => [name, 'A public key: signatures are checked with it.']),
  ]
  const lines = rows.filter(([name]) => name !== '').map(([name, meaning]) => `${name}\n    ${meaning}`)
  return `WHAT IS IN THIS FOLDER\n\n${lines.join('\n')}\n`
}

type Chain = 'entries' | 'findings' | 'digests'

function range(chain: Chain, heads: ChainHeads, nameOf = (sequence: number) => keyOf(chain, sequence)): string {
  const last = heads[chain].sequence
  if (last === 0) return ''
  return last === 1 ? nameOf(1) : `${nameOf(1)} to ${nameOf(last)}`
}

function steps({ head, digestAt, hasReport }: PackFacts): string {
  const verdict = verdictOf({ digests: { newest: { sequence: head.digests.sequence, writtenAt: digestAt } } })
  return `HOW TO CHECK IT, STEP BY STEP

1. Have two texts at hand: the id of the signing key, and the hash of the newest digest. Each has 64 characters, digits
   and the letters a to f. Ask for them by another way than the one by which you got this folder: by phone, in a meeting, from
   the last audit. Texts that lie in this folder do not count: who alters the folder can alter them, too.

2. ${hasReport ? 'Open report.html, and read its first lines. They say whether the evidence was verified when the page was written.\n   Do not stop here: the page is only what the folder says of itself.' : 'There is no page to read in this folder; go on with step 3.'}

3. Let the program check the folder. It needs Node.js 18 or later (https://nodejs.org), once, and nothing else.
   a. Open a window for commands in this folder. Windows: in the Explorer, type cmd into the address line and press Enter.
      macOS: in the Finder, choose "New Terminal at Folder" in the menu of the folder. Linux: "Open in Terminal".
   b. Type this in one line, with your two texts in the place of KEY and HASH, and press Enter:

      node verify.mjs --key-id KEY --expect HASH

      If more than one key was told to you, write --key-id before each.

4. Read the last line. When all is right it is, word for word:

      ${verdict}

   Anything else means that something is wrong, or that one of your texts is not the right one. A line that begins with FAULT
   names the file and says what is wrong with it. Keep the folder as it is, and ask who gave it to you.

5. Be sure of the program, too: it lies in the same folder. Compare its fingerprint with that of a verify.mjs that you have
   from before, or from elsewhere. Windows: certutil -hashfile verify.mjs SHA256. macOS: shasum -a 256 verify.mjs. Linux:
   sha256sum verify.mjs.

6. Note the hash of the newest digest, which the program prints, where nobody of the organization can write. The next audit
   needs it for step 1.
`
}

const limits = `WHAT THIS CAN NOT SHOW

- What happened after the newest digest, and what the settings were before the record began.
- Whether the platform told the truth about a change when it was recorded.
- Without the two texts of step 1: that this folder was not made anew as a whole, or is not an older one.
`
