import type { SignatureForm } from '../trail/signature.ts'
import type { EvidenceNote } from './walk.ts'

/** A signature that is right: its form, and the one that what it signs allows (none: either, as older objects do). */
export type CheckedSignature = { form: SignatureForm; signatureForm?: SignatureForm | undefined }

/** What is wrong with a signature that proves the right thing in other bytes than were written. */
export const otherForm = 'is in another form than it was written in (high s)'

/** Checks that a signature has the form in which it was written. */
export function isAsWritten({ form, signatureForm }: CheckedSignature): boolean {
  return signatureForm === undefined || signatureForm === form
}

/** Collects what was signed before there was one form, to say what the evidence can't show of it. */
export type OlderSignatures = { take(signed: CheckedSignature & { key: string }): void; notes(): EvidenceNote[] }

/** A collection of older signatures. */
export function createOlderSignatures(): OlderSignatures {
  const keys: string[] = []
  let highS = 0
  return {
    take: ({ key, form, signatureForm }) => {
      if (signatureForm !== undefined) return
      keys.push(key)
      if (form === 'high-s') highS += 1
    },
    notes: () => {
      const [first, last] = [keys[0], keys.at(-1)]
      if (first === undefined) return []
      const place = first === last ? first : `${first} to ${last}`
      return [{ place, message: olderText({ count: keys.length, highS }) }]
    },
  }
}

function olderText({ count, highS }: { count: number; highS: number }): string {
  const subject = count === 1 ? 'was' : 'were'
  return (
    `${subject} signed before signatures had one form (${highS} of ${count} with a high s): that a signature was replaced by ` +
    'its other form, which proves the same, is not seen'
  )
}
