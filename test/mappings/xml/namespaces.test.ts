import { deepStrictEqual } from 'node:assert';
import test from 'ava';
import { type Declaration, Namespaces } from '../../../mappings/xml/namespaces.ts';
import { fc } from '../../property.ts';

const prefixes = ['', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'xml', 'toString'];

/** Returns the namespaces of prefixes for these declarations, the innermost last. */
function meaningsOf(declared: readonly Declaration[]): readonly (string | undefined)[] {
  return prefixes.map((prefix) => {
    if (prefix === 'xml') return 'http://www.w3.org/XML/1998/namespace';
    const found = declared.findLast((declaration) => declaration.prefix === prefix)?.namespace;
    return prefix === '' ? (found ?? '') : found;
  });
}

/** The declarations of elements that are opened; `undefined` closes the innermost element. */
const steps = fc.array(
  fc.option(
    fc.uniqueArray(
      fc.record(
        {
          prefix: fc.constantFrom(...prefixes.filter((prefix) => prefix !== 'xml')),
          namespace: fc.constantFrom('urn:1', 'urn:2', 'urn:3'),
        },
        { noNullPrototype: true },
      ),
      { selector: ({ prefix }) => prefix, maxLength: 7 },
    ),
    { nil: undefined, freq: 2 },
  ),
  { maxLength: 12 },
);

test('a prefix has the meaning of the nearest declaration, however many are in scope', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(steps, fc.constantFrom(...prefixes), (list, often) => {
        const namespaces = new Namespaces();
        const open: { readonly from: number; readonly declared: readonly Declaration[] }[] = [];
        for (const declared of list) {
          const from = open.at(-1)?.from;
          if (declared !== undefined) {
            open.push({ from: namespaces.count, declared });
            for (const { prefix, namespace } of declared) {
              namespaces.declare(prefix, namespace);
              namespaces.resolve(often);
            }
          } else if (from !== undefined) {
            namespaces.release(from);
            open.pop();
          }
          const all = open.flatMap((element) => element.declared);
          deepStrictEqual(namespaces.count, all.length);
          deepStrictEqual(namespaces.between(0, all.length), all);
          const expected = meaningsOf(all);
          deepStrictEqual(namespaces.default, expected[0]);
          for (const [index, prefix] of prefixes.entries()) {
            deepStrictEqual(namespaces.resolve(prefix), expected[index], prefix);
            deepStrictEqual(namespaces.resolve(prefix), expected[index], prefix);
          }
          const since = open.at(-1)?.from ?? 0;
          for (const prefix of prefixes)
            deepStrictEqual(
              namespaces.declaredSince(since, prefix),
              all.slice(since).some((declaration) => declaration.prefix === prefix),
            );
          namespaces.resolve(often);
        }
      }),
      { numRuns: 500 },
    ),
  );
});

test('at the start nothing is declared, and only the prefix xml has a meaning', (t) => {
  const namespaces = new Namespaces();
  t.is(namespaces.count, 0);
  t.is(namespaces.default, '');
  t.is(namespaces.resolve('a'), undefined);
  t.is(namespaces.resolve(''), '');
  t.is(namespaces.resolve('xml'), 'http://www.w3.org/XML/1998/namespace');
});
