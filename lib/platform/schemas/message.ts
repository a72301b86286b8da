import * as z from 'zod'
import { id, openEnum, resource, unixMs } from '../fields.ts'
import { sessionStatuses } from './session.ts'

function doc(meaning: string) {
  return `${meaning} (§2.4).`
}
function vendorField(meaning: string) {
  return z.string().nullish().describe(doc(meaning))
}

/** A piece of a message. Types other than text are "not shown" (§2.4), so only the type is sure to be there. */
export const ContentBlock = resource(() => ({
  type: z.string().describe(doc('Type of the block; one value seen: text')),
  text: z.string().nullish().describe(doc('Text of the block')),
  id: z.string().nullish().describe(doc('Id of the block')),
}))
export type ContentBlock = z.infer<typeof ContentBlock>

/** The roles in which messages are written (§2.4). */
export const messageRoles = ['user', 'assistant', 'tool', 'system'] as const

/** A message of a session (§2.4). */
export const Message = resource(() => ({
  id: id().describe(doc('Message id')),
  role: openEnum(...messageRoles).describe(doc('Who speaks: user, assistant, tool or system')),
  content: z.array(ContentBlock).describe(doc('Content blocks in their order')),
  createdAt: unixMs().describe(doc('When the message was created')),
  updatedAt: unixMs().describe(doc('When the message was last updated')),
  parentId: z.string().nullish().describe(doc('Id of the message that this one follows')),
  visibility: openEnum('both', 'llm_only', 'user_only')
    .nullish()
    .describe(doc('Who sees the message: both, llm_only or user_only')),
  vendorMessageId: vendorField("The model vendor's id of the message"),
  vendorPhase: openEnum('commentary', 'final_answer')
    .nullish()
    .describe(doc("The model vendor's phase: commentary or final_answer")),
  vendorEncryptedContent: vendorField('Content that the model vendor encrypted'),
  vendorReasoningId: vendorField("The model vendor's id of the reasoning"),
  vendorReasoningSummary: vendorField("The model vendor's summary of the reasoning"),
  altVendorThoughtSignature: vendorField(
    'Deprecated: use the signature fields of thinking blocks, with signatureProvider set to a vendor identifier',
  ),
  chatCompletionReasoningField: openEnum('reasoning', 'reasoning_content')
    .nullish()
    .describe(doc('Field of a chat completion that held the reasoning: reasoning or reasoning_content')),
  chatCompletionReasoningContent: vendorField('Reasoning of a chat completion'),
  isUserVisible: z.boolean().nullish().describe(doc('Whether users see the message')),
  isError: z.boolean().nullish().describe(doc('Whether the message is an error')),
}))
export type Message = z.infer<typeof Message>

const attachment = {
  type: z.literal('base64').describe('Encoding of the data: base64 (§2.5).'),
  data: z
    .base64('must be base64 with its padding, without line breaks and without "data:" before it')
    .min(1, 'is empty')
    .describe('Contents, base64 (§2.5).'),
}

/**
 * An image that goes with a message (§2.5). Media types beyond image/jpeg are "not shown": any image passes. So is the size that the
 * platform takes: there is no bound to it here.
 */
export const ImageAttachment = resource(() => ({
  ...attachment,
  mediaType: z
    .string()
    .regex(/^image\/[a-z0-9!#$&^_.+-]+$/i, 'must be an image type such as image/jpeg')
    .describe('Media type; one value seen: image/jpeg (§2.5).'),
}))

/** A PDF or text file that goes with a message (§2.5). Media types beyond application/pdf are "not shown". */
export const FileAttachment = resource(() => ({
  ...attachment,
  mediaType: z
    .string()
    .regex(/^(application|text)\/[a-z0-9!#$&^_.+-]+$/i, 'must be a media type such as application/pdf or text/plain')
    .describe('Media type; one value seen: application/pdf. Attachments are PDFs or text files (§2.5).'),
  parsedData: z.string().nullish().describe('Text of the file, where it was extracted already (§2.5).'),
  name: z.string().nullish().describe('Name of the file (§2.5).'),
  path: z.string().nullish().describe('Path of the file (§2.5).'),
}))

/** A user message to be added to a session (§2.5). */
export const MessageSubmission = resource(() => ({
  text: z.string().describe('Text of the message (§2.5).'),
  images: z.array(ImageAttachment).optional().describe('Images that go with the message (§2.5).'),
  files: z.array(FileAttachment).optional().describe('PDFs or text files that go with the message (§2.5).'),
  computerId: id().optional().describe("Target computer; when left out, the session's computer is used (§2.5)."),
}))
export type MessageSubmission = z.infer<typeof MessageSubmission>

/** What the platform answers to a submission (§4.2, endpoint 8). */
export const MessageReceipt = resource(() => ({
  messageId: id().describe('Id of the user message that was created (§4.2).'),
  status: openEnum(...sessionStatuses).describe(
    'Status of the agent after the submission: idle, pending or running (§4.2).',
  ),
}))
export type MessageReceipt = z.infer<typeof MessageReceipt>
