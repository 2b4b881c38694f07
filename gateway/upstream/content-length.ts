const zero = 0x30;
/** Maximum number of digits that a 64-bit float represents exactly. */
const sureDigits = 15;

/**
 * Returns the length that a Content-Length header announces, like `Number`; 0 if the header is missing. Parsing the
 * digits directly is faster than `Number`, because each header is a new string.
 */
export function announcedBytes(header: string | undefined): number {
  if (header === undefined) return 0;
  if (header.length > sureDigits) return Number(header);
  let bytes = 0;
  for (let index = 0; index < header.length; index++) {
    const digit = header.charCodeAt(index) - zero;
    if (digit < 0 || digit > 9) return Number(header);
    bytes = bytes * 10 + digit;
  }
  return bytes;
}
