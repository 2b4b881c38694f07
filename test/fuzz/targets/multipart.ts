import { MIMEType } from 'node:util';
import { CallError } from '../../../gateway/call/error.ts';
import { refuseMultipart } from '../../../gateway/protocols/read-call.ts';
import { parseContentType } from '../../../mappings/http-mapping/content-type.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';

/** Reads a Content-Type as the gateway does before the body. The oracle is Node's parser of media types. */
export const multipart = target<{
  readonly header: string;
  readonly type: string;
  readonly refused: boolean;
}>({
  name: 'multipart',
  words: [
    ...[
      'multipart/',
      'multipart/related',
      'MultiPart/form-data',
      'text/xml',
      'application/xop+xml',
      '/',
      ';',
      '=',
    ],
    ...[
      '; boundary=',
      '"',
      '\\"',
      'type="text/xml"',
      'start-info=',
      'charset=utf-8',
      ' ',
      '\t',
      ',',
      '*',
      '\u00a0',
    ],
  ],
  make: makeContentType,
  run: (input) => {
    const header = input.toString('latin1');
    const { type } = parseContentType(header);
    try {
      refuseMultipart(type);
      return { header, type, refused: false };
    } catch (error) {
      if (error instanceof CallError && error.code === 'UnsupportedMediaType')
        return { header, type, refused: true };
      throw error;
    }
  },
  kind: ({ type, refused }) => `${refused} ${/^[^/]+\/[^/]+$/.test(type)}`,
  judge: (_, { header, type, refused }) => {
    const essence = essenceOf(header);
    if (essence === undefined) return undefined; // not a media type, so not a multipart message
    if (essence !== type) return `expected the type "${essence}", got "${type}"`;
    return essence.startsWith('multipart/') === refused ? undefined : `refused: got ${refused}`;
  },
});

function essenceOf(header: string): string | undefined {
  if (/[\r\n]/.test(header)) return undefined; // header fields have no line breaks (RFC 9110, 5.5), but Node's parser trims them
  try {
    return new MIMEType(header).essence;
  } catch {
    return undefined; // the only error of the parser
  }
}

function makeContentType(random: Random): string {
  const type = random.pick(
    'multipart/related',
    'Multipart/Mixed',
    'multipart/x',
    'text/xml',
    'multipart',
    'xmultipart/a',
  );
  const parameter = (): string =>
    random.pick(
      'boundary=b',
      'boundary="a;b"',
      'type="application/xop+xml"',
      'charset="utf-8"',
      'x',
      '=',
      'a="\\""',
    );
  const separator = random.pick(';', '; ', ' ;');
  return random.pick('', '', ' ', '\t') + [type, random.many(4, parameter, separator)].join(separator);
}
