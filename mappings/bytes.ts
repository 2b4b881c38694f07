/**
 * 1 at each byte that is unchanged in a JSON string and in XML content: no quote, escape, control character or `& < >`.
 * A module with a loop over bytes copies it to its own constant, because access to another module's export is slower.
 */
export const plainByte: Uint8Array = new Uint8Array(256).fill(1, 32);
for (const byte of Buffer.from('"\\&<>')) plainByte[byte] = 0;
plainByte[0xef] = 0; // the first byte of U+FFFE and U+FFFF, which need a closer check

/** Number of zero bytes after the content, which terminate each scan. */
export const padding = 8;

/** Bytes to search for, in words of four bytes for fast comparison. */
export interface Key {
  readonly words: Int32Array;
  readonly lastMask: number;
  readonly length: number;
}

/** Creates the key of a text in UTF-8. The text contains no NUL, because zero bytes terminate scans. */
export function keyOf(text: string): Key {
  const length = Buffer.byteLength(text);
  const padded = new ArrayBuffer(Math.ceil(length / 4) * 4);
  Buffer.from(padded).write(text);
  const view = new DataView(padded);
  const words = new Int32Array(padded.byteLength / 4);
  for (let index = 0; index < words.length; index++) words[index] = view.getInt32(index * 4, true);
  const tail = length % 4;
  return { words, lastMask: tail === 0 ? -1 : 2 ** (tail * 8) - 1, length };
}

/** Returns true if a key's bytes are at an offset. Three more bytes after its end must be readable. */
export function matches(view: DataView, at: number, { words, lastMask }: Key): boolean {
  const last = words.length - 1;
  let from = at;
  for (let index = 0; index < last; index++) {
    if (view.getInt32(from, true) !== words[index]) return false;
    from += 4;
  }
  return (view.getInt32(from, true) & lastMask) === words[last];
}

/** Returns a Buffer that shares the memory of an array. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
