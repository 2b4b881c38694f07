/** Marks of a message that its receiver accepts only once (G22). */
const marks = ['Nonce', 'Signature', 'Timestamp', 'RelatesTo'];

/** Returns true if a message may have a nonce, a signature, a Timestamp or `RelatesTo`. Compressed ones may, too. */
export function isReplayProtected(bytes: Buffer): boolean {
  const isText = bytes[0] !== 0x1f && bytes[0] !== 0x78 && bytes[0] !== 0xff && bytes[0] !== 0xfe;
  return !isText || marks.some((mark) => bytes.includes(mark));
}
