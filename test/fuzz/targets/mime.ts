import { defaultLimits } from '../../../mappings/contract/limits.ts';
import {
  RelatedError,
  type RelatedMessage,
  readRelatedType,
  splitRelated,
  takeParts,
} from '../../../mappings/http-mapping/related.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';

const type = readRelatedType('multipart/related; boundary=b');

/** Reads a message of several parts. The oracle splits the text at boundaries and only knows where headers end. */
export const mime = target<RelatedMessage | undefined>({
  name: 'mime',
  words: [
    ...['\r\n', '\n', '\r\n--b', '--b', '\r\n--b--', '\r\n\r\n', '--', '\0', '\t', ' '],
    ...[
      'Content-ID: <p>\r\n',
      'Content-Type: text/xml\r\n',
      'Content-Transfer-Encoding: base64\r\n',
      'X: y\r\n',
    ],
  ],
  make: makeMessage,
  run: (input) => {
    try {
      return takeParts(input, splitRelated(input, type, defaultLimits));
    } catch (error) {
      if (error instanceof RelatedError) return undefined;
      throw error;
    }
  },
  kind: (message) =>
    message === undefined ? 'refused' : `${message.form} ${Math.min(message.parts.length, 3)}`,
  judge: (input, message) => {
    if (message === undefined) return undefined;
    const contents = contentsOf(input.toString('latin1'));
    const read = [message.root, ...message.parts.map(({ bytes }) => bytes)];
    if (contents.length !== read.length) return `expected ${contents.length} parts, got ${read.length}`;
    const other = read.findIndex((bytes, index) => !isOf(bytes, contents[index] ?? ''));
    return other === -1 ? undefined : `part ${other}: got other bytes`;
  },
});

/** Returns true if a part's bytes are its text, or the decoded base64 text. */
function isOf(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1') === text || bytes.equals(Buffer.from(text, 'base64'));
}

/** Returns the contents between boundaries, after the first empty line of each. */
function contentsOf(text: string): string[] {
  const pieces = `\r\n${text}`.split('\r\n--b').slice(1);
  const end = pieces.findIndex((piece) => piece.startsWith('--'));
  return pieces.slice(0, end).map((piece) => {
    const lines = `${piece}\r\n`.slice(piece.indexOf('\r\n'));
    const empty = lines.indexOf('\r\n\r\n');
    return empty === -1 ? '' : lines.slice(empty + 4, -2);
  });
}

function makeMessage(random: Random): string {
  const header = (): string =>
    random.pick(
      'Content-ID: <p>',
      'content-id: q',
      'Content-Type: text/xml',
      'X: y',
      'X:\r\n folded',
      'Content-Transfer-Encoding: base64',
      'x',
    );
  const part = (): string => {
    const lines = random.many(3, header, '\r\n');
    return `--b${random.pick('', '', ' ')}\r\n${lines === '' ? '' : `${lines}\r\n`}\r\n${random.pick('', 'YQ==', 'text', '\r\n', '--b', '<a/>')}\r\n`;
  };
  return `${random.pick('', '', '\r\n', 'words\r\n')}${random.many(4, part, '')}--b--${random.pick('', '\r\n', 'words')}`;
}
