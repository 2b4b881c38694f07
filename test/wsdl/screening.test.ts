import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { goldens } from '../golden/write.ts';
import { describeSoap, describeStrongSoap } from './importers.ts';
import { all, only, readTree, type Tree } from './tree.ts';

/** Name, type and nillability of one element. */
type Row = readonly [string, string, boolean];

/** The types of the screening contract, as `types-table.json` lists them. */
interface Table {
  readonly operations: readonly string[];
  readonly elements: Readonly<Record<string, readonly Row[]>>;
  readonly records: Readonly<Record<string, readonly Row[]>>;
  readonly arrays: Readonly<Record<string, object>>;
  readonly maps: Readonly<Record<string, object>>;
  readonly enums: Readonly<Record<string, readonly string[]>>;
}

const goldenPath = join(import.meta.dirname, '../golden/screening.wsdl');
const table: Table = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/types-table.json'), 'utf8'),
);
const definitions = readTree(goldens['screening.wsdl']);

test('the screening WSDL is the golden one; npm run golden rewrites it', (t) => {
  t.is(goldens['screening.wsdl'], readFileSync(goldenPath, 'utf8'));
});

test('W32: the screening WSDL has the names of the rule', (t) => {
  const named = (name: string) => all(definitions, name).map(({ attributes }) => attributes.name);
  t.is(definitions.attributes.name, 'ScreeningApi');
  t.deepEqual(named('wsdl:portType'), ['IScreeningApi']);
  t.deepEqual(named('wsdl:binding'), ['Soap11Binding', 'Soap12Binding']);
  t.deepEqual(named('wsdl:service'), ['ScreeningApi']);
  t.deepEqual(
    named('wsdl:message'),
    table.operations.flatMap((operation) => [`${operation}In`, `${operation}Out`]),
  );
});

test('W32: every operation of the screening WSDL is documented', (t) => {
  for (const operation of only(definitions, 'wsdl:portType').children) {
    t.not(only(operation, 'wsdl:documentation').text.trim(), '', operation.attributes.name);
  }
});

for (const [importer, describe] of [
  ['soap', describeSoap],
  ['strong-soap', describeStrongSoap],
] as const) {
  test(`${importer} finds all twelve operations of the screening WSDL at both ports`, async (t) => {
    const { operations } = table;
    t.is(operations.length, 12);
    t.deepEqual(await describe(goldenPath), {
      ScreeningApi: { Soap11: operations, Soap12: operations },
    });
  });
}

const schemas = only(definitions, 'wsdl:types').children;

for (const [index, name] of (['arrays', 'types'] as const).entries()) {
  test(`W18, W33: the ${name} schema has exactly the types of the table, with elements in order`, (t) => {
    const schema = schemas[index];
    const expected = [
      ...namesIn(name, table.arrays),
      ...namesIn(name, table.maps),
      ...(name === 'types' ? [...Object.keys(table.records), ...Object.keys(table.enums)] : []),
    ];
    const types = (schema?.children ?? []).filter((child) => /^xs:(complex|simple)Type$/.test(child.name));
    t.deepEqual(types.map(({ attributes }) => attributes.name).sort(), expected.sort());
    for (const type of types) {
      const typeName = type.attributes.name ?? '';
      const [kind, read] = readType(type, name);
      t.deepEqual(read, table[kind][typeName], typeName);
    }
  });
}

test('W33: the wrappers are those of the table, in the order of the operations', (t) => {
  const wrappers = all(schemas[1] ?? definitions, 'xs:element');
  t.deepEqual(
    wrappers.map((wrapper) => [wrapper.attributes.name, rows(only(wrapper, 'xs:complexType'))]),
    table.operations
      .flatMap((operation) => [operation, `${operation}Response`])
      .map((name) => [name, table.elements[name]]),
  );
});

function namesIn(namespace: 'arrays' | 'types', kind: Readonly<Record<string, object>>): readonly string[] {
  return Object.entries(kind)
    .filter(([, entry]) => 'namespace' in entry && entry.namespace === namespace)
    .map(([name]) => name);
}

/** Converts a type to the form of the table, with the part of the table that it belongs to. */
function readType(
  type: Tree,
  namespace: 'arrays' | 'types',
): readonly ['records' | 'arrays' | 'maps' | 'enums', unknown] {
  if (type.name === 'xs:simpleType') {
    const values = only(type, 'xs:restriction').children.map(({ attributes }) => attributes.value);
    return ['enums', values];
  }
  const elements = only(type, 'xs:sequence').children;
  const [first] = elements;
  if (first?.attributes.maxOccurs !== 'unbounded') return ['records', rows(type)];
  const { name: item, type: itemType } = first.attributes;
  if (itemType !== undefined) {
    return ['arrays', { namespace, item, type: itemType, nillable: first.attributes.nillable === 'true' }];
  }
  const members = only(only(first, 'xs:complexType'), 'xs:sequence').children.map(row);
  return ['maps', { namespace, entry: item, members }];
}

function rows(complexType: Tree): readonly Row[] {
  return only(complexType, 'xs:sequence').children.map(row);
}

function row({ attributes }: Tree): Row {
  return [attributes.name ?? '', attributes.type ?? '', attributes.nillable === 'true'];
}
