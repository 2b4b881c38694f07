import test from 'ava';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { Parameter } from '../../../mappings/contract/model.ts';
import { compileParameter } from '../../../mappings/http-mapping/parameter.ts';
import { fc } from '../../property.ts';

/** Returns a parameter's text for a value, or undefined for no text or a rejection. */
function written(
  parts: Pick<Parameter, 'in' | 'style' | 'explode'> & Partial<Parameter>,
  value: unknown,
): string | undefined {
  const parameter: Parameter = {
    field: 'n',
    name: 'n',
    allowReserved: false,
    spansSegments: false,
    deepLists: 'numbered',
    ...parts,
  };
  const text = compileParameter(parameter, defaultLimits)(JSON.stringify(value));
  return typeof text === 'string' ? text : undefined;
}

const lists = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 });

/** Parses a list as an upstream does: splits it at separators first, then decodes each item. */
const readers: readonly (readonly [
  Pick<Parameter, 'in' | 'style' | 'explode'>,
  (text: string) => string[],
])[] = [
  [{ in: 'path', style: 'simple', explode: false }, (text) => text.split(',')],
  [{ in: 'path', style: 'simple', explode: true }, (text) => text.split(',')],
  [{ in: 'path', style: 'label', explode: false }, (text) => text.slice(1).split(',')],
  [{ in: 'path', style: 'label', explode: true }, (text) => text.slice(1).split('.')],
  [{ in: 'path', style: 'matrix', explode: false }, (text) => text.replace(/^;n=?/, '').split(',')],
  [
    { in: 'path', style: 'matrix', explode: true },
    (text) =>
      text
        .slice(1)
        .split(';')
        .map((item) => item.replace(/^n=?/, '')),
  ],
  [{ in: 'query', style: 'form', explode: false }, (text) => text.slice(2).split(',')],
  [{ in: 'query', style: 'form', explode: true }, (text) => text.split('&').map((item) => item.slice(2))],
  [{ in: 'query', style: 'pipeDelimited', explode: false }, (text) => text.slice(2).split('%7C')],
  [{ in: 'query', style: 'spaceDelimited', explode: false }, (text) => text.slice(2).split('%20')],
  [
    { in: 'query', style: 'deepObject', explode: true },
    (text) => text.split('&').map((item, index) => item.slice(`n%5B${index}%5D=`.length)),
  ],
  [{ in: 'cookie', style: 'form', explode: true }, (text) => text.split('; ').map((item) => item.slice(2))],
];

/** Delimiters whose percent-encoding is the same within an item, which is rejected then. */
const delimiters: Readonly<Partial<Record<Parameter['style'], string>>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
};

/** Characters allowed in a query (RFC 3986 §3.4), which paths and cookies may contain too. */
const urlText = /^(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*$/;

for (const [parts, read] of readers) {
  const how = `${parts.in}, ${parts.style}${parts.explode ? ', exploded' : ''}`;
  for (const allowReserved of parts.in === 'query' ? [false, true] : [false]) {
    test(`a decoded list equals the encoded one: ${how}${allowReserved ? ', reserved characters allowed' : ''}`, (t) => {
      t.notThrows(() =>
        fc.assert(
          fc.property(lists, (items) => {
            const text = written({ ...parts, allowReserved }, items);
            if (text === undefined)
              return items.some(
                (item) => !item.isWellFormed() || item.includes(delimiters[parts.style] ?? '\0'),
              );
            return (
              urlText.test(text.replaceAll('; ', ';')) &&
              JSON.stringify(read(text).map(decodeURIComponent)) === JSON.stringify(items)
            );
          }),
        ),
      );
    });
  }
}

test('no value of a query ends it or starts another parameter', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.boolean(), (json, allowReserved) => {
        const parameter: Parameter = {
          field: 'n',
          in: 'query',
          name: 'n',
          style: 'deepObject',
          explode: true,
          allowReserved,
          spansSegments: false,
          deepLists: 'numbered',
        };
        const text = compileParameter(parameter, defaultLimits)(json);
        if (typeof text !== 'string') return true;
        return text
          .split('&')
          .every((pair) => /^n(?:%5B[^\][&=#]*%5D)*=[^&# ]*$/.test(pair) && urlText.test(pair));
      }),
    ),
  );
});

for (const [json, expected] of [
  ['12.50', '12.50'],
  ['1E400', '1E400'],
  ['9007199254740993', '9007199254740993'],
  ['true', 'true'],
  ['"a,b"', 'a,b'],
] as const) {
  test(`a header has the scalar ${json} unchanged`, (t) => {
    const parameter = {
      field: 'n',
      name: 'n',
      in: 'header',
      style: 'simple',
      explode: false,
      allowReserved: false,
      spansSegments: false,
      deepLists: 'numbered',
    } as const;
    t.is(compileParameter(parameter, defaultLimits)(json), expected);
  });
}

for (const [parts, value] of [
  [{ in: 'path', style: 'simple', explode: false }, 'a\ud800'],
  [{ in: 'query', style: 'form', explode: true }, ['\udc00']],
  [{ in: 'query', style: 'form', explode: true }, { '\ud800': 'a' }],
  [{ in: 'query', style: 'deepObject', explode: true }, { a: { '\ud800': 'a' } }],
  [{ in: 'cookie', style: 'form', explode: true }, '\ud800'],
] as const) {
  test(`refuses half a surrogate pair, and does not replace it: ${parts.in}, ${JSON.stringify(value)}`, (t) => {
    t.is(written(parts, value), undefined);
    const whole = JSON.parse(JSON.stringify(value).replaceAll(/\\ud[8c]00/g, '😀'));
    t.true(written(parts, whole)?.includes('%F0%9F%98%80'));
  });
}
