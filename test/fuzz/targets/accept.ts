import { acceptedFormat, type Format, maxAcceptRanges } from '../../../gateway/http/negotiate.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Random } from '../random.ts';
import { target } from '../target.ts';

const formats = ['json', 'xml', 'soap11', 'soap12'] as const satisfies readonly Format[];

/** Reads a header value as Accept, for each format of an endpoint. The oracle is a second implementation of W5. */
export const accept = target<{ readonly header: string; readonly chosen: readonly (Format | undefined)[] }>({
  name: 'accept',
  words: [
    ...[
      'application/json',
      'text/json',
      'application/xml',
      'text/xml',
      'application/soap+xml',
      'application/*',
      'text/*',
    ],
    ...[
      '*/*',
      '*',
      'text/html',
      ';q=',
      ';q=0',
      ';q=1',
      ';q=0.5',
      ';q=.2',
      ';q=1.001',
      '; Q = 0.9',
      ';level=1',
      ';',
    ],
    ...[',', ', ', '"', '/', ';q="1"', 'q=0', ';q=0.0000', ';q=01', '\t', '\u00a0', 'é', '='],
  ],
  make: makeAccept,
  readings: formats.length,
  run: (input) => {
    const header = input.toString('latin1');
    return { header, chosen: formats.map((own) => acceptedFormat(header, own, defaultLimits)) };
  },
  kind: ({ chosen }) => chosen.join(),
  judge: (_, { header, chosen }) => {
    for (const [index, own] of formats.entries()) {
      const expected = model(header, own);
      if (chosen[index] !== expected) return `own ${own}: expected ${expected}, got ${chosen[index]}`;
    }
    return undefined;
  },
});

const types: Readonly<Record<Format, readonly string[]>> = {
  json: ['application/json', 'text/json'],
  xml: ['application/xml', 'text/xml'],
  soap11: [],
  soap12: ['application/soap+xml'],
};
/** Formats that a wildcard can select; never an envelope. */
const wild: readonly Format[] = ['json', 'xml'];

const mediaRange = /^\s*([!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+)\s*(?:;(.*))?$/s;

function model(header: string, own: Format): Format | undefined {
  const ranges = header.split(',').slice(0, maxAcceptRanges).flatMap(readRange);
  const named = ranges.flatMap(({ type }) => formats.filter((format) => types[format].includes(type)));
  const order = [own, ...named, ...formats];
  const quality = (format: Format): number => {
    const levels = [types[format], ...(wild.includes(format) ? [['application/*', 'text/*'], ['*/*']] : [])];
    for (const level of levels) {
      const found = ranges.filter(({ type }) => level.includes(type)).map(({ q }) => q);
      if (found.length > 0) return Math.max(...found);
    }
    return 0;
  };
  const best = Math.max(...formats.map(quality));
  return best === 0 ? undefined : order.find((format) => quality(format) === best);
}

/** Parses a range with its q. Returns an empty list if it is invalid. */
function readRange(text: string): { readonly type: string; readonly q: number }[] {
  const match = mediaRange.exec(text);
  if (match === null) return [];
  const qualities = (match[2] ?? '')
    .split(';')
    .map((parameter) => /^\s*q\s*=(.*)$/is.exec(parameter)?.[1])
    .filter((value) => value !== undefined)
    .map((value) => (/^\s*(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*$/.test(value) ? Number(value) : undefined));
  const q = qualities.length === 0 ? 1 : qualities.at(-1);
  return q === undefined ? [] : [{ type: (match[1] ?? '').toLowerCase(), q }];
}

function makeAccept(random: Random): string {
  const range = (): string => {
    const type = random.pick(
      ...([
        'application/json',
        'TEXT/xml',
        'application/soap+xml',
        '*/*',
        'text/*',
        'application/*',
      ] as const),
      ...(['text/html', '*', 'image/png', ''] as const),
    );
    const q = random.pick(
      '',
      '',
      `;q=0.${random.digits(3)}`,
      ';q=0',
      '; q=1.0',
      ';q=2',
      ';q=.5',
      ';Q = 0.25',
    );
    return type + random.pick('', '', ';level=1', ';charset=utf-8') + q;
  };
  return random.many(random.pick(3, 3, 60), range, random.pick(',', ', ', ' ,\t'));
}
