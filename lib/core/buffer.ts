/** The same bytes as a Buffer, not a copy of them. */
export function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/**
 * Gives the memory of bytes back at once, which are empty from then on; those that share theirs with others stay. For who
 * made the bytes, and knows that nobody looks at them again. Memory outside its heap makes V8 collect all garbage each time
 * that some 60 MB of it have gathered, and until then it is kept.
 */
export function release({ buffer, byteLength }: ArrayBufferView): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}
