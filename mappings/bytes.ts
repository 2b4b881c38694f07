/**
 * 1 at each byte that a JSON string and XML content both have as it is: no quote, no escape, no control, no `& < >`. A loop over
 * bytes takes it as a constant of its own module: what another one exports is looked up each time, which is 3 % of a reply.
 */
export const plainByte: Uint8Array = new Uint8Array(256).fill(1, 32);
for (const byte of Buffer.from('"\\&<>')) plainByte[byte] = 0;
plainByte[0xef] = 0; // U+FFFE and U+FFFF begin so; what follows is looked at

/** Zeros behind bytes that are read, which end every scan. */
export const padding = 8;

/** Bytes that are looked for, in words of four for comparing. */
export interface Key {
  readonly words: Uint32Array;
  readonly lastMask: number;
  readonly length: number;
}

/** The key of a text's UTF-8; it holds no zero, which ends what is searched. */
export function keyOf(text: string): Key {
  const length = Buffer.byteLength(text);
  const padded = new ArrayBuffer(Math.ceil(length / 4) * 4);
  Buffer.from(padded).write(text);
  const view = new DataView(padded);
  const words = new Uint32Array(padded.byteLength / 4);
  for (let index = 0; index < words.length; index++) words[index] = view.getUint32(index * 4, true);
  const tail = length % 4;
  return { words, lastMask: tail === 0 ? 0xffffffff : 2 ** (tail * 8) - 1, length };
}

/** Whether a key's bytes stand at an offset; there are three more behind its end, whatever they are. */
export function matches(view: DataView, at: number, { words, lastMask }: Key): boolean {
  const last = words.length - 1;
  let from = at;
  for (let index = 0; index < last; index++) {
    if (view.getUint32(from, true) !== words[index]) return false;
    from += 4;
  }
  return (view.getUint32(from, true) & lastMask) >>> 0 === words[last];
}

/** The same bytes as a Buffer, which shares their memory. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
