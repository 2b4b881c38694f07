import test from 'ava';
import { defaultLimits, type Limits } from '../../../../mappings/contract/limits.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { type Files, folderOf, getOf, load, problemsOf } from './wsdl-folder.ts';

const small = { 'service.wsdl': getOf('<xs:complexType/>') };

function problemsWithin(
  t: Parameters<typeof problemsOf>[0],
  limits: Partial<Limits>,
  files: Files = small,
): readonly string[] {
  return problemsOf(t, files, { limits: { ...defaultLimits, ...limits } });
}

test('contractElements: that many elements in all files together are read, one more is not', (t) => {
  const elements = [...small['service.wsdl'].matchAll(/<[a-z]/g)].length;
  t.deepEqual(problemsWithin(t, { contractElements: elements }), []);
  t.regex(
    problemsWithin(t, { contractElements: elements - 1 })[0] ?? '',
    new RegExp(`more than ${elements - 1} elements`),
  );
});

test('contractBytes, contractDepth, contractFiles and contractSteps apply to WSDLs and schemas', (t) => {
  const { length } = small['service.wsdl'];
  t.deepEqual(problemsWithin(t, { contractBytes: length }), []);
  t.regex(problemsWithin(t, { contractBytes: length - 1 })[0] ?? '', /expected at most \d+ bytes, got/);
  t.regex(problemsWithin(t, { contractDepth: 3 })[0] ?? '', /nesting deeper than 3/);
  t.regex(problemsWithin(t, { contractSteps: 2 })[0] ?? '', /expected a contract of at most 2 steps/);
  const including = getOf(
    '<xs:complexType/>',
    '<xs:include schemaLocation="a.xsd"/><xs:include schemaLocation="b.xsd"/>',
  );
  const schema = '<schema xmlns="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t"/>';
  const files = { 'service.wsdl': including, 'a.xsd': schema, 'b.xsd': schema };
  t.deepEqual(problemsWithin(t, { contractFiles: 2 }, files), []);
  t.regex(problemsWithin(t, { contractFiles: 1 }, files)[0] ?? '', /exceeds the maximum of 1 files/);
});

test('an exceeded limit is reported with file and line, also of a schema next to the WSDL', (t) => {
  const types = Array.from({ length: 99 }, (_, at) => `<xs:complexType name="T${at}"/>`).join('\n');
  const files = {
    'service.wsdl': getOf('<xs:complexType/>', '<xs:include schemaLocation="a.xsd"/>'),
    'a.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">\n${types}\n</xs:schema>`,
  };
  for (const limits of [{ contractSteps: 60 }, { contractElements: 60 }])
    t.regex(problemsWithin(t, limits, files)[0] ?? '', /^a\.xsd:\d\d#: .*60 (?:steps|elements)/);
});

for (const [what, first, next] of [
  [
    'groups that double',
    '<xs:group name="G0"><xs:sequence><xs:element name="e"/></xs:sequence></xs:group>',
    '<xs:group name="GN"><xs:sequence><xs:group ref="t:Gn"/><xs:group ref="t:Gn"/></xs:sequence></xs:group>',
  ],
  [
    'unions that double',
    '<xs:simpleType name="G0"><xs:restriction base="xs:int"/></xs:simpleType>',
    '<xs:simpleType name="GN"><xs:union memberTypes="t:Gn t:Gn"/></xs:simpleType>',
  ],
] as const) {
  test(`${what} exceed contractSteps, however short they are`, (t) => {
    const names = next
      .replaceAll('xs:group name="GN"', 'xs:group name="G@"')
      .replaceAll('name="GN"', 'name="G@"')
      .replaceAll('Gn', 'G#');
    const levels = Array.from({ length: 60 }, (_, at) =>
      names.replaceAll('@', String(at + 1)).replaceAll('#', String(at)),
    );
    const wsdl = getOf(
      what.startsWith('groups')
        ? '<xs:complexType><xs:group ref="t:G60"/></xs:complexType>'
        : '<xs:complexType/>',
      first + levels.join(''),
    );
    t.regex(problemsOf(t, { 'service.wsdl': wsdl })[0] ?? '', /expected a contract of at most \d+ steps/);
  });
}

test('members of a base count for each type that extends it, as codecs and documents do', (t) => {
  const many = <T>(make: (at: number) => T): readonly T[] =>
    Array.from({ length: 1_500 }, (_, at) => make(at));
  const base = many((at) => `<xs:element name="b${at}" type="xs:string"/>`).join('');
  const extending = many(
    (at) =>
      `<xs:complexType name="D${at}"><xs:complexContent><xs:extension base="t:B"/></xs:complexContent></xs:complexType>`,
  );
  const wsdl = getOf(
    '<xs:complexType/>',
    `<xs:complexType name="B"><xs:sequence>${base}</xs:sequence></xs:complexType>${extending.join('')}`,
  );
  t.regex(problemsOf(t, { 'service.wsdl': wsdl })[0] ?? '', /expected a contract of at most \d+ steps/);
});

for (const [what, type, most] of [
  ['complex types', '<xs:complexType/>', 100],
  ['simple types', '<xs:simpleType><xs:restriction base="xs:int"/></xs:simpleType>', 32],
] as const)
  test(`inline ${what} count by the size of their codecs`, (t) => {
    const elements = Array.from({ length: 100 }, (_, at) => `<xs:element name="e${at}">${type}</xs:element>`);
    const files = {
      'service.wsdl': getOf(
        `<xs:complexType><xs:sequence>${elements.join('\n')}</xs:sequence></xs:complexType>`,
      ),
    };
    const [problem = ''] = problemsWithin(t, { contractSteps: 100 * most }, files);
    t.regex(problem, /^service\.wsdl:\d+#: expected a contract of at most \d+ steps/);
    t.deepEqual(problemsWithin(t, { contractSteps: 100 * (most + 25) }, files), []);
  });

test('contractReferences: chains of bases are followed that far', (t) => {
  const chain = (length: number): string =>
    Array.from(
      { length },
      (_, at) =>
        `<xs:simpleType name="S${length - at}"><xs:restriction base="t:S${length - at - 1}"/></xs:simpleType>`,
    ).join('');
  const last = '<xs:simpleType name="S0"><xs:restriction base="xs:int"/></xs:simpleType>';
  t.is(load(t, { 'service.wsdl': getOf('<xs:complexType/>', chain(50) + last) }).service.types.size, 51);
  t.regex(
    problemsOf(t, { 'service.wsdl': getOf('<xs:complexType/>', chain(5_000) + last) })[0] ?? '',
    /expected at most 100 references in a chain, got more references/,
  );
});

test('a hostile WSDL of a million types ends at a limit within seconds', (t) => {
  const types = '<xs:complexType name="T"/>'.repeat(1_000_000);
  const before = performance.now();
  const [problem = ''] = problemsOf(t, { 'service.wsdl': getOf('<xs:complexType/>', types) });
  t.regex(problem, /^service\.wsdl.* more than 500000 elements$/);
  t.true(performance.now() - before < 20_000);
});

test('a WSDL of 1,500 operations is read in seconds', (t) => {
  const operations = Array.from(
    { length: 1_500 },
    (_, at) => `<w:operation name="Op${at}"><w:input message="t:in"/></w:operation>`,
  );
  const wsdl = small['service.wsdl'].replaceAll(/<w:operation name="Get">.*?<\/w:operation>/g, (text) =>
    text.includes('soap:')
      ? operations
          .map((one) =>
            one.replace(
              /<w:input.*?\/>/,
              '<soap:operation soapAction=""/><w:input><soap:body use="literal"/></w:input>',
            ),
          )
          .join('')
      : operations.join(''),
  );
  const before = performance.now();
  t.is(load(t, { 'service.wsdl': wsdl }).service.operations.length, 1_500);
  t.true(performance.now() - before < 20_000);
});

test('a type whose elements have hundreds of thousands of substitutes is loaded', (t) => {
  const rows = (count: number, row: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => row(at)).join('');
  const type = `<xs:complexType><xs:sequence>${rows(200, () => '<xs:element ref="t:head"/>')}</xs:sequence></xs:complexType>`;
  const others = rows(
    2_000,
    (at) => `<xs:element name="e${at}" type="xs:string" substitutionGroup="t:head"/>`,
  );
  const wsdl = getOf(type, `<xs:element name="head" type="xs:string"/>${others}`);
  t.is(readContract(folderOf(t, { 'service.wsdl': wsdl })).contract.adopted?.service.operations.length, 1);
});
