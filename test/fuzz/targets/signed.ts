import { changed, changeKinds, openReader, sources } from '../../security/changes.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';

/** Current time of the tests. The clocks of the messages differ by less than a day. */
const now = Date.parse('2026-11-27T18:00:00Z');
const inputOf = openReader({ wsseSkewMs: 86_400_000 });

/** Returns the inputs of a message at the time of the tests. */
function read(text: string): string | undefined {
  const { now: clock } = Date;
  Date.now = () => now;
  try {
    return inputOf(text);
  } finally {
    Date.now = clock;
  }
}

/** Inputs of the messages that are changed. */
const originals: ReadonlySet<string | undefined> = new Set(sources.map(({ text }) => read(text)));

/** Reads signed and encrypted messages. Each accepted message must have the inputs of an original. */
export const signed = target<string | undefined>({
  name: 'signed',
  words: [
    ...[
      '<ds:Signature>',
      '</ds:Signature>',
      '<xenc:EncryptedData>',
      '</xenc:EncryptedData>',
      ' Id="',
      ' wsu:Id="',
    ],
    ...[
      '#Content',
      '#Element',
      'aes128-gcm',
      'aes256-cbc',
      'rsa-oaep-mgf1p',
      'rsa-sha256',
      ' URI="#',
      ' xmlns="',
    ],
    ...['mallory', '<![CDATA[', ']]>', '<!-- c -->', '&#32;', 'AAAA', '=='],
  ],
  make: makeMessage,
  judgeOneOf: 1,
  run: (input) => read(input.toString('utf8')),
  kind: (input) => (input === undefined ? 'refused' : `accepted ${[...originals].indexOf(input)}`),
  judge: (_, input) =>
    input === undefined || originals.has(input)
      ? undefined
      : `other inputs than those of an original: ${input}`,
});

/** Changes a message up to four times. */
function makeMessage(random: Random): string {
  const source = sources[random.below(sources.length)] ?? { text: '' };
  let { text } = source;
  for (let left = random.below(5); left > 0; left--) {
    const kind = random.pick(...changeKinds);
    try {
      text = changed(text, { kind, what: random.below(60), to: random.below(60), place: random.below(30) });
    } catch {
      return text; // it was not well-formed before the last change
    }
  }
  return text;
}
