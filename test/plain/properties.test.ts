import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import test from 'ava';
import { startReading } from '../../mappings/codec/problem.ts';
import { decimalFromJson } from '../../mappings/codec/scalars/numbers.ts';
import { isReference } from '../../mappings/codec/scalars/table.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { type Contract, namespaces, type Type } from '../../mappings/contract/model.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { writeSchema } from '../../wsdl/schema.ts';
import { sliceContract } from '../../wsdl/slice.ts';
import { writeWsdl } from '../../wsdl/wsdl.ts';
import { type BothWays, codecsOf } from '../mappings/codec/codec-calls.ts';
import { findInvalid, parseElement } from '../mappings/codec/elements.ts';
import { tell, valuesOf } from '../mappings/codec/values.ts';
import { pull, type Seen } from '../mappings/json/values.ts';
import { fc } from '../property.ts';
import { documents, load, type SmallDocument } from './documents.ts';

/** Returns the types of all bodies and of their parts. */
function typesOf(contract: Contract): readonly Type[] {
  const bodies = contract.operations.flatMap(({ input, output }) => [...input.fields, ...output.fields]);
  return [...new Set([...bodies.map(({ type }) => type), ...contract.types])];
}

function elementOf(contract: Contract, codec: BothWays, content: string): string {
  return `<e xmlns="${contract.namespaces.types}" xmlns:i="${namespaces.xsi}"${codec.declarations}>${content}</e>`;
}

/**
 * Parses a JSON text for comparison: members in any order, exact numbers by value.
 *
 * @param dropsNulls true if null members are ignored
 */
function meaning(text: string, dropsNulls = false): unknown {
  const of = (seen: Seen): unknown => {
    if ('items' in seen) return seen.items.map(of);
    if ('members' in seen)
      return new Map(
        seen.members
          .filter(([, member]) => !(dropsNulls && isNull(member)))
          .map(([name, member]) => [name, of(member)]),
      );
    return 'number' in seen ? { number: plainNumber(seen.number) } : seen;
  };
  return of(pull(text));
}

/** Returns true if additional members of an open object forbid null. Nil for such a member is read as absent (W13). */
function hasForbiddenNulls({ types }: Contract): boolean {
  return types.some((type) => {
    const map = type.kind === 'record' ? type.additional?.typed.type : undefined;
    return map !== undefined && map.takesNull !== true && !isReference(map.value);
  });
}

const isNull = (seen: Seen): boolean => 'literal' in seen && seen.literal === 'null';

/** Returns a number without exponent and redundant zeros. */
function plainNumber(token: string): string {
  const written = decimalFromJson(token);
  if (typeof written !== 'string') return token;
  const short = written.includes('.') ? written.replace(/\.?0+$/, '') : written;
  return short === '-0' ? '0' : short;
}

/** Converts JSON to XML and back. */
function thereAndBack(contract: Contract, type: Type, codec: BothWays, text: string): string | undefined {
  const { content, dropped, replaced, failed } = codec.write(text);
  deepStrictEqual({ dropped, replaced, failed }, { dropped: 0, replaced: 0, failed: false });
  const element = elementOf(contract, codec, content ?? '');
  strictEqual(findInvalid(parseElement(element), type, contract), undefined);
  const xml = new XmlReader(element, defaultLimits);
  const reading = startReading(20);
  xml.readRoot();
  const back = codec.read(xml, reading);
  xml.finish();
  deepStrictEqual(reading.problems, []);
  return back;
}

test('a value of any type of any document round-trips unchanged', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, fc.integer(), (document, seed) => {
        const { contract } = load(document);
        const codecs = codecsOf(contract);
        const dropsNulls = hasForbiddenNulls(contract);
        for (const type of typesOf(contract)) {
          const codec = codecs.codecOf(type);
          for (const value of fc.sample(valuesOf(type, contract, { nulls: true }), { seed, numRuns: 3 })) {
            const text = tell(value);
            const back = thereAndBack(contract, type, codec, text) ?? 'null';
            deepStrictEqual(meaning(back, dropsNulls), meaning(text, dropsNulls));
          }
        }
      }),
      { numRuns: 50, endOnFailure: true },
    ),
  );
});

test('any JSON in a union or in free JSON of any document round-trips unchanged', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, fc.json({ maxDepth: 3 }), (document, text) => {
        fc.pre(text !== 'null');
        const { contract } = load(document);
        const codecs = codecsOf(contract);
        const dropsNulls = hasForbiddenNulls(contract);
        for (const type of typesOf(contract)) {
          if (type.kind !== 'union' || type.variants.some(({ tag }) => tag !== undefined)) continue;
          const back = thereAndBack(contract, type, codecs.codecOf(type), text);
          deepStrictEqual(meaning(back ?? '', dropsNulls), meaning(text, dropsNulls));
        }
      }),
      { numRuns: 50, endOnFailure: true },
    ),
  );
});

test('any JSON round-trips through its tree unchanged: digits, order, repeated members', (t) => {
  const content = { 'application/json': { schema: {} } };
  const responses = { 200: { description: '', content } };
  const { contract } = load(
    {
      openapi: '3.1.0',
      info: { title: 'Free', version: '1' },
      paths: { '/': { post: { operationId: 'put', requestBody: { content }, responses } } },
    },
    undefined,
    { json: 'tree' },
  );
  const codec = codecsOf(contract).codecOf({ kind: 'scalar', scalar: 'json' });
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom('null', 'true', 'false', '-0', '1.50', '1e-400', '12345678901234567890', '"\\ud800"'),
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc.array(tie('value')).map((items) => `[${items.join()}]`),
      fc
        .array(fc.tuple(fc.string({ unit: 'binary' }), tie('value')))
        .map((members) => `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join()}}`),
    ),
  }));
  t.notThrows(() =>
    fc.assert(
      fc.property(value, (text) => {
        fc.pre(text !== 'null');
        const xml = new XmlReader(elementOf(contract, codec, codec.write(text).content ?? ''), defaultLimits);
        const reading = startReading(20);
        xml.readRoot();
        deepStrictEqual([pull(codec.read(xml, reading) ?? ''), reading.problems], [pull(text), []]);
      }),
    ),
  );
});

test('names of one kind differ for generators, and each makes a class, in any document', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(documents, (document) => {
        const { contract } = load(document);
        const classes = [
          ...contract.types.map(({ name }) => name),
          ...contract.operations.flatMap(({ name }) => [name, `${name}Response`]),
        ];
        checkApart(classes);
        // wsimport drops characters before the first letter or digit, and does not allow a digit there
        for (const name of classes) ok(/^[^\p{L}\p{N}]*\p{L}/u.test(name), name);
        for (const type of contract.types) {
          if (type.kind === 'record') {
            const { typed, untyped } = type.additional ?? {};
            checkApart([...type.fields, typed, untyped].flatMap((element) => element?.xml ?? []));
          } else if (type.kind === 'union') checkApart(type.variants.map(({ xml }) => xml));
        }
        strictEqual(contract.operations.length, Object.keys(document.paths).length);
      }),
    ),
  );
});

function checkApart(names: readonly string[]): void {
  const seen = names.map((name) => name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase());
  deepStrictEqual(
    names.filter((_, index) => seen.indexOf(seen[index] ?? '') !== index),
    [],
  );
}

/** Documents with a subset of their operations, without unused schemas. */
const pruned: fc.Arbitrary<readonly [whole: SmallDocument, part: SmallDocument]> = documents.chain((whole) =>
  fc.subarray(Object.keys(whole.paths), { minLength: 1 }).map((kept) => {
    const paths = Object.fromEntries(kept.map((path) => [path, whole.paths[path] ?? {}]));
    return [whole, withoutUnused({ ...whole, paths })] as const;
  }),
);

function withoutUnused(document: SmallDocument): SmallDocument {
  const { schemas } = document.components;
  const used = new Set<string>();
  const search = (part: object): void => {
    for (const [, name] of JSON.stringify(part).matchAll(/#\/components\/schemas\/([^"]+)"/g)) {
      const schema = schemas[name ?? ''];
      if (name === undefined || schema === undefined || used.has(name)) continue;
      used.add(name);
      search(schema);
    }
  };
  search(document.paths);
  const rest = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  return { ...document, components: { schemas: rest } };
}

/** Returns the definitions of a contract's schema as text. */
function definitionsOf(contract: Contract): readonly string[] {
  const schema = writeSchema(contract, 0, { address: '' }) ?? '';
  return schema
    .split(/\n(?= {2}<xs:)/)
    .slice(1)
    .map((text) => text.replace('\n</xs:schema>', '').trimEnd());
}

test('with names.lock, removing a part of a document changes no other name and byte', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(pruned, ([whole, part]) => {
        const all = load(whole);
        const some = load(part, all.names);
        const before = new Set(definitionsOf(all.contract));
        deepStrictEqual(
          definitionsOf(some.contract).filter((definition) => !before.has(definition)),
          [],
        );
        const operations = some.contract.operations.map(({ name }) => name);
        const slice = sliceContract(all.contract, { operations, tags: [] });
        strictEqual(writeWsdl(some.contract, { address: '' }), writeWsdl(slice, { address: '' }));
      }),
    ),
  );
});

test('additions to a document change no name in names.lock, and are reported for names they want', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(pruned, ([whole, part]) => {
        const { names } = load(part);
        const loaded = load(whole, names);
        for (const kind of ['operations', 'types', 'members'] as const) {
          for (const [key, name] of names[kind]) {
            if (loaded.names[kind].has(key)) strictEqual(loaded.names[kind].get(key), name, key);
          }
        }
        for (const { key, holder, name, wanted } of loaded.displaced) {
          ok(name !== wanted && key !== holder);
          const kinds = ['operations', 'types', 'members'] as const;
          ok(kinds.some((kind) => names[kind].has(holder) && !names[kind].has(key)));
        }
      }),
    ),
  );
});

test('without names.lock, a removal changes only names that had to avoid the removed one', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(pruned, ([whole, part]) => {
        const all = load(whole).names;
        const some = load(part).names;
        for (const kind of ['operations', 'types', 'members'] as const) {
          for (const [key, name] of some[kind]) {
            const before = all[kind].get(key);
            // the name of merged equal types depends on all of them
            if (key.endsWith('=')) continue;
            if (before !== undefined && before !== name) ok(isBetter(name, before), `${before} is ${name}`);
          }
        }
      }),
    ),
  );
});

const tails = /_[0-9a-f]{4,}/g;

/** Returns true if a name is another name without digits that are no longer needed. */
function isBetter(name: string, before: string): boolean {
  const kept: readonly string[] = name.match(tails) ?? [];
  const had: readonly string[] = before.match(tails) ?? [];
  return (
    name.replaceAll(tails, '') === before.replaceAll(tails, '') &&
    kept.length < had.length &&
    kept.every((tail) => had.includes(tail))
  );
}
