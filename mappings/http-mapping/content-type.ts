import { parse } from 'content-type';

/** A parsed Content-Type (RFC 9110, 8.3). */
export interface ContentType {
  /** In lower case; `''` for none. */
  readonly type: string;
  /** The first parameter of each name, without quotes. */
  readonly charset: string | undefined;
  readonly action: string | undefined;
}

/** Maximum number and length of cached headers. Clients repeat the same few headers. */
const kept = { headers: 256, characters: 128 } as const;

const known = new Map<string, ContentType>();

/** Parses a Content-Type in linear time. Malformed parts are ignored. */
export function parseContentType(header: string): ContentType {
  const found = known.get(header);
  if (found !== undefined) return found;
  const { type, parameters } = parse(header);
  const { charset, action } = parameters;
  const content = { type, charset, action };
  if (known.size < kept.headers && header.length < kept.characters) known.set(header, content);
  return content;
}
