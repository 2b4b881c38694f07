import test from 'ava';
import { startReading } from '../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import type { BodyPart, DeepLists, Parameter } from '../../../mappings/contract/model.ts';
import { compileForm } from '../../../mappings/http-mapping/form.ts';
import { compileMultipart } from '../../../mappings/http-mapping/multipart.ts';
import { compileParameter } from '../../../mappings/http-mapping/parameter.ts';
import { fc } from '../../property.ts';

/** Lists in parameters: two different lists are written differently, or rejected. */

/** Returns the text of a value, or undefined if it is rejected. */
type Write = (value: unknown) => string | undefined;

const parameter = (parts: Pick<Parameter, 'style' | 'explode' | 'deepLists'>): Write => {
  const write = compileParameter(
    { field: 'n', name: 'n', in: 'query', allowReserved: false, spansSegments: false, ...parts },
    defaultLimits,
  );
  return (value) => {
    const text = write(JSON.stringify(value)) ?? '';
    return typeof text === 'string' ? text : undefined;
  };
};

const form = (deepLists: DeepLists): Write => {
  const write = compileForm(
    {
      kind: 'form',
      field: 'Body',
      mediaType: 'application/x-www-form-urlencoded',
      members: [],
      deepLists,
    },
    undefined,
    defaultLimits,
  );
  return (value) => {
    const reading = startReading(20);
    const text = write(JSON.stringify({ n: value }), reading);
    return reading.problems.length === 0 ? text : undefined;
  };
};

const multipart = (part: Omit<BodyPart, 'name' | 'contentType'>): Write => {
  const write = compileMultipart([{ name: 'n', contentType: undefined, ...part }], 'text', defaultLimits);
  return (value) => {
    const reading = startReading(20);
    const { boundary, content } = write(JSON.stringify({ n: value }), reading);
    return reading.problems.length === 0 ? content.toString().replaceAll(boundary, '') : undefined;
  };
};

const places: Readonly<Record<string, Write>> = {
  'a deepObject parameter with numbers': parameter({
    style: 'deepObject',
    explode: true,
    deepLists: 'numbered',
  }),
  'a deepObject parameter without numbers': parameter({
    style: 'deepObject',
    explode: true,
    deepLists: 'bare',
  }),
  'a form with numbers': form('numbered'),
  'a form without numbers': form('bare'),
  'a part for each item': multipart({ kind: 'text' }),
  'a part with commas': multipart({ kind: 'text', separator: ',' }),
  'a part for each text': multipart({ kind: 'text', deep: 'numbered' }),
  'a part for each text without numbers': multipart({ kind: 'text', deep: 'bare' }),
};

const word = fc.constantFrom('a', 'b', '');
const texts = fc.array(fc.option(word), { maxLength: 3 });
const records = fc.record({ a: fc.option(word), b: word, c: texts }, { requiredKeys: [] });
const pairs = fc.record({ a: word, b: word }, { requiredKeys: [] });
const lists = fc.oneof(
  texts,
  fc.array(pairs, { maxLength: 2 }),
  fc.array(fc.oneof(records, texts, word), { maxLength: 3 }),
);

/** Removes values that cannot be written: null or empty members, and empty lists. */
function sent(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => sent(item) ?? null);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const members = Object.entries(value).flatMap(([name, member]) => {
    const one = sent(member);
    return one === undefined ? [] : [[name, one] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members.toSorted());
}

for (const [place, write] of Object.entries(places)) {
  test(`different lists are encoded differently, or refused: ${place}`, (t) => {
    const values = new Map<string, string>();
    t.notThrows(() =>
      fc.assert(
        fc.property(lists, (value) => {
          const text = write(value);
          if (text === undefined) return true;
          const said = JSON.stringify(sent(value)) ?? '';
          const before = values.get(text) ?? said;
          values.set(text, said);
          return before === said;
        }),
        { numRuns: 2_000 },
      ),
    );
  });

  test(`refuses a null item: ${place}`, (t) => {
    t.is(write(['a', null]), undefined);
    t.is(write([null, 'a']), undefined);
    t.not(write(['a', '']), undefined);
    t.not(write([]), undefined);
    t.not(write(null), undefined);
  });
}

for (const [place, write] of Object.entries(places).filter(([name]) => !/item|commas/.test(name)))
  test(`refuses a nested member whose name would be read as several: ${place}`, (t) => {
    for (const name of ['a][b', 'a]', '[a', 'a[]', ''])
      for (const value of [{ [name]: 'x' }, { a: { [name]: 'x' } }, [{ [name]: 'x' }]])
        t.is(write(value), undefined, JSON.stringify(value));
    t.not(write({ 'a.b': 'x', '0': 'y', ' ': 'z' }), undefined);
  });

for (const [value, expected] of [
  [[{ a: '1', b: '2' }, { a: '3' }], 'n[][a]=1&n[][b]=2&n[][a]=3'],
  [[{ a: { b: '1' } }, { a: { b: '2' } }], 'n[][a][b]=1&n[][a][b]=2'],
  [[{ a: '1' }, { b: '2' }], undefined],
  [[{ a: '1' }, { b: '2', a: '3' }], undefined],
  [[{ a: ['1', '2'] }], undefined],
  [[{ a: ['1'] }, { a: ['2'] }], 'n[][a][]=1&n[][a][]=2'],
  [[['1', '2']], undefined],
  [['1', { a: '2' }], undefined],
] as const)
  test(`without numbers ${JSON.stringify(value)} is ${expected ?? 'refused'}`, (t) => {
    const written = places['a deepObject parameter without numbers']?.(value);
    t.is(written?.replaceAll('%5B', '[').replaceAll('%5D', ']'), expected);
  });
