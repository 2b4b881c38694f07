import { parse } from 'content-type';

/** A Content-Type, taken apart (RFC 9110, 8.3). */
export interface ContentType {
  /** In lower case; `''` for none. */
  readonly type: string;
  /** The first of each that the header has, without quotes. */
  readonly charset: string | undefined;
  readonly action: string | undefined;
}

/** So many headers are kept, each up to so many characters: callers send the same few over and over. */
const kept = { headers: 256, characters: 128 } as const;

const known = new Map<string, ContentType>();

/** Takes a Content-Type apart, in a time that is linear in its length; what isn't well-formed in it is left out. */
export function parseContentType(header: string): ContentType {
  const found = known.get(header);
  if (found !== undefined) return found;
  const { type, parameters } = parse(header);
  const { charset, action } = parameters;
  const content = { type, charset, action };
  if (known.size < kept.headers && header.length < kept.characters) known.set(header, content);
  return content;
}
