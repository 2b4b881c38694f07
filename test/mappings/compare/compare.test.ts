import test, { type ExecutionContext } from 'ava';
import { compileComparison } from '../../../mappings/compare/compare.ts';
import type { Comparison, ReplyBytes } from '../../../mappings/compare/comparison.ts';
import { compileRules } from '../../../mappings/compare/rules.ts';
import { digestOf } from '../../../mappings/http-mapping/related-digests.ts';
import { readContract } from '../../../mappings/loader/load.ts';
import { contractFolder } from '../../migration/scenario.ts';
import { folderOf, getOf } from '../loader/wsdl/wsdl-folder.ts';
import { envelope, legacyReply } from './replies.ts';

const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';

/** A comparison in the form `path kind class: legacy | new`, notes as `path note`, explained ones with their rule. */
function told({ differences, explained, notes, more }: Comparison): readonly string[] {
  const line = (one: Comparison['differences'][number]): string =>
    `${one.path} ${one.kind}${one.class === undefined ? '' : ` ${one.class}`}: ${one.legacy ?? ''} | ${one.new ?? ''}`;
  return [
    ...differences.map(line),
    ...explained.map((one) => `${line(one)} (rule ${one.rule})`),
    ...notes.map(({ path, note, code }) => `${path} ${note}${code === undefined ? '' : ` ${code}`}`),
    ...(more === 0 ? [] : [`${more} more`]),
  ];
}

/** Returns a function that compares two contents of the element `Get` of this type. */
function comparing(
  t: ExecutionContext,
  type: string,
  { declarations = '', rules = [] as readonly object[], strict = false, overlay = '', element = '' } = {},
) {
  const declared = getOf(type, declarations);
  const wsdl =
    element === ''
      ? declared
      : declared.replace(
          `<xs:element name="Get">${type}</xs:element>`,
          `<xs:element name="Get" type="${element}"/>`,
        );
  const files = { 'service.wsdl': wsdl, 'soap.yaml': `wsdl: service.wsdl\n${overlay}` };
  const { contract } = readContract(folderOf(t, files));
  const problems: string[] = [];
  const compiled = compileRules(rules, '', { contract }, (at, message) => problems.push(`${at}: ${message}`));
  t.deepEqual(problems, []);
  const { compare } = compileComparison(contract, { rules: compiled, strict });
  const reply = (content: string): ReplyBytes => {
    const element = content.startsWith('<Get') ? content : `<Get xmlns="urn:t" ${xsi}>${content}</Get>`;
    return legacyReply({ status: 200, body: envelope(element) });
  };
  return (legacy: string, fresh: string) => told(compare('Get', reply(legacy), reply(fresh), 0));
}

function sequence(...members: readonly string[]): string {
  return `<xs:complexType><xs:sequence>${members.join('')}</xs:sequence></xs:complexType>`;
}

const one = (name: string, type: string, more = ''): string =>
  `<xs:element name="${name}" type="${type}" minOccurs="0" ${more}/>`;

/** Two values of a type, and the differences and notes without the path. */
const scalars: readonly (readonly [type: string, legacy: string, fresh: string, ...expected: string[]])[] = [
  ['xs:int', '+7', '007'],
  ['xs:int', '7', '8', 'value other: 7 | 8'],
  [
    'xs:unsignedLong',
    '18446744073709551615',
    '18446744073709551614',
    'value rounding: 18446744073709551615 | 18446744073709551614',
  ],
  ['xs:decimal', '-0.0', '0', 'scale'],
  ['xs:decimal', '.5', '0.50', 'scale'],
  ['xs:decimal', '1E3', '1000', 'value other: 1E3 | 1000', 'offContract InvalidType'],
  ['xs:double', 'INF', 'INF'],
  ['xs:double', 'NaN', 'NaN'],
  ['xs:double', 'INF', '-INF', 'value other: INF | -INF'],
  ['xs:float', '0.1', '0.10000000149'],
  ['xs:double', '0.1', '0.1000001', 'value rounding: 0.1 | 0.1000001'],
  ['xs:double', '1e400', '1e401', 'offContract OutOfRange'],
  ['xs:boolean', '0', 'false'],
  ['xs:dateTime', '2026-02-28T24:00:00Z', '2026-03-01T00:00:00.000+00:00'],
  ['xs:dateTime', '2026-03-01T00:00:00', '2026-03-01T00:00:00.0'],
  ['xs:dateTime', '2026-03-01T00:00:00+01:00', '2026-02-28T23:00:00Z', 'offset'],
  [
    'xs:dateTime',
    '2026-03-01T00:00:00.0000001Z',
    '2026-03-01T00:00:00.0000002Z',
    'value other: 2026-03-01T00:00:00.0000001Z | 2026-03-01T00:00:00.0000002Z',
  ],
  [
    'xs:dateTime',
    '0001-01-01T00:00:00',
    '0001-01-01T00:00:00Z',
    'value zone: 0001-01-01T00:00:00 | 0001-01-01T00:00:00Z',
  ],
  ['xs:time', '23:30:00-01:00', '00:30:00Z', 'offset'],
  ['xs:time', '24:00:00', '00:00:00'],
  ['xs:time', '12:00:00', '12:00:00Z', 'value zone: 12:00:00 | 12:00:00Z'],
  ['xs:date', '2026-03-01+02:00', '2026-03-01-05:00', 'offset'],
  ['xs:gYearMonth', '2026-03Z', '2026-03', 'offset'],
  ['xs:gMonthDay', '--03-01', '--03-02', 'value other: --03-01 | --03-02'],
  ['xs:gDay', '---01+01:00', '---01', 'offset'],
  ['xs:duration', 'P1DT24H', 'P2D'],
  ['xs:duration', '-P1Y', 'P1Y', 'value other: -P1Y | P1Y'],
  ['xs:duration', 'PT0.50S', 'PT0.5S'],
  ['xs:duration', 'P12M', 'P365D', 'value other: P12M | P365D'],
  ['xs:base64Binary', 'QUJD\n', 'QUJD'],
  ['xs:base64Binary', '', 'QUJD', 'value bytes: (empty) | QUJD'],
  ['xs:hexBinary', 'abCD', 'ABcd'],
  ['xs:string', 'a\r\nb', 'a\nb'],
  ['xs:string', 'a&#13;&#10;b', 'a\nb', 'value lineEnds: a\r\nb | a\nb'],
  ['xs:string', 'a  b', 'a b', 'value whitespace: a  b | a b'],
  ['xs:string', 'a', '', 'value empty: a | (empty)'],
  ['xs:string', 'e&#x301;', '\u00e9', 'value normalization: e\u0301 | \u00e9'],
  ['xs:string', 'abc', 'ab', 'value truncated: abc | ab'],
  ['xs:string', 'abc', 'xyz', 'value other: abc | xyz'],
  ['xs:token', ' a  b\n', 'a b'],
  ['xs:anyURI', ' urn:a ', 'urn:a'],
  ['xs:anyURI', 'urn:a', 'URN:A', 'value case: urn:a | URN:A'],
  ['xs:NMTOKENS', 'a b', 'b a', 'order:  | '],
  ['xs:NMTOKENS', 'a b c', 'a c', '[1] missing: b | '],
  ['t:Color', 'red', 'green', 'value other: red | green'],
  ['t:Size', '1', '1.0', 'scale'],
  ['t:Padded', ' a  b ', 'a b'],
];

/** Two texts of which at least one is outside the type, so that equal values of its normal form differ. */
const outside: readonly (readonly [type: string, legacy: string, fresh: string])[] = [
  ['xs:dateTime', '2026-02-30T00:00:00Z', '2026-03-02T00:00:00Z'],
  ['xs:dateTime', '2027-02-29T00:00:00', '2027-03-01T00:00:00'],
  ['xs:dateTime', '1900-02-29T00:00:00', '1900-03-01T00:00:00'],
  ['xs:dateTime', '2026-13-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['xs:dateTime', '2026-00-01T00:00:00Z', '2025-12-01T00:00:00Z'],
  ['xs:dateTime', '2026-01-00T00:00:00Z', '2025-12-31T00:00:00Z'],
  ['xs:dateTime', '2026-01-01T00:60:00Z', '2026-01-01T01:00:00Z'],
  ['xs:dateTime', '2026-01-01T00:00:60Z', '2026-01-01T00:01:00Z'],
  ['xs:dateTime', '2026-01-01T24:00:01Z', '2026-01-02T00:00:01Z'],
  ['xs:dateTime', '2026-01-01T24:00:00.1Z', '2026-01-02T00:00:00.1Z'],
  ['xs:dateTime', '2026-01-01T25:00:00Z', '2026-01-02T01:00:00Z'],
  ['xs:dateTime', '2026-01-01T15:00:00+15:00', '2026-01-01T00:00:00Z'],
  ['xs:dateTime', '2026-01-01T02:00:00+00:60', '2026-01-01T01:00:00Z'],
  ['xs:dateTime', '12:00:00Z', '13:00:00+01:00'],
  ['xs:dateTime', '0000-03-01T00:00:00Z', '-0001-03-01T00:00:00Z'],
  ['xs:time', '25:00:00', '01:00:00'],
  ['xs:time', '12:60:00', '13:00:00'],
  ['xs:date', '2026-02-30Z', '2026-02-30'],
  ['xs:date', '2026-02Z', '2026-02'],
  ['xs:gYear', 'xZ', 'x'],
  ['xs:gMonth', '--13Z', '--13'],
  ['xs:int', '10.0', '10'],
  ['xs:long', '10.', '10'],
  ['xs:nonNegativeInteger', '+0.0', '0'],
  ['xs:int', '\u00a010', '10'],
  ['xs:duration', 'P', 'PT0S'],
  ['xs:duration', 'PT', 'P0D'],
  ['xs:duration', 'P1DT', 'P1D'],
  ['xs:base64Binary', 'QQ', 'QQ=='],
  ['xs:hexBinary', 'xy', 'XY'],
  ['xs:hexBinary', 'abc', 'ABC'],
];
for (const [type, legacy, fresh] of outside)
  test(`${type}: ${legacy} and ${fresh} are compared as text (G34)`, (t) => {
    const found = comparing(t, sequence(one('V', type)))(`<V>${legacy}</V>`, `<V>${fresh}</V>`);
    t.true(
      found.some((line) => line.startsWith('V value ')),
      found.join(),
    );
  });

test('a leap day of a leap year is a value (G38)', (t) => {
  const run = comparing(t, sequence(one('V', 'xs:dateTime')));
  for (const year of ['2024', '2000'])
    t.deepEqual(run(`<V>${year}-02-29T24:00:00Z</V>`, `<V>${year}-03-01T00:00:00.0Z</V>`), [], year);
});

const types =
  '<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/><xs:enumeration value="green"/></xs:restriction></xs:simpleType>' +
  '<xs:simpleType name="Size"><xs:restriction base="xs:decimal"><xs:enumeration value="1"/></xs:restriction></xs:simpleType>' +
  '<xs:simpleType name="Padded"><xs:restriction base="xs:string"><xs:whiteSpace value="collapse"/></xs:restriction></xs:simpleType>';

for (const [type, legacy, fresh, ...expected] of scalars)
  test(`${type}: ${JSON.stringify(legacy)} and ${JSON.stringify(fresh)}: ${expected.join() || 'equal'} (G36, G38, G40)`, (t) => {
    const run = comparing(t, sequence(one('V', type)), { declarations: types });
    const lines = expected.map((line) => `V${line.startsWith('[') ? '' : ' '}${line}`);
    t.deepEqual(run(`<V>${legacy}</V>`, `<V>${fresh}</V>`), lines);
  });

test('the same scalars are compared in attributes, in text with attributes and in nillable lists (G35, G38, G39)', (t) => {
  const text =
    '<xs:complexType name="P"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="at" type="xs:dateTime"/></xs:extension></xs:simpleContent></xs:complexType>';
  const run = comparing(
    t,
    sequence(one('P', 't:P'), one('N', 'xs:decimal', 'maxOccurs="unbounded" nillable="true"')),
    { declarations: text },
  );
  t.deepEqual(
    run(
      '<P at="2026-03-01T00:00:00Z">1.0</P><N>1</N><N xsi:nil="true"/><N>2</N>',
      '<P at="2026-03-01T01:00:00+01:00">1</P><N>1.0</N><N>3</N><N>2</N>',
    ),
    ['N[1] absence nil present: (nil) | 3', 'P.at offset', 'P.value scale', 'N[0] scale'],
  );
});

test('absent, nil and empty differ, except where XML has one form for two of them (G35)', (t) => {
  const run = comparing(
    t,
    sequence(
      one('S', 'xs:string', 'nillable="true"'),
      one('L', 't:L'),
      one('R', 'xs:int', 'maxOccurs="9"'),
      one('O', 't:O'),
    ),
    {
      declarations:
        '<xs:complexType name="L"><xs:sequence><xs:element name="i" type="xs:int" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType>' +
        '<xs:complexType name="O"><xs:sequence><xs:element name="a" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>',
    },
  );
  t.deepEqual(run('', '<S/>'), ['S absence absent empty: (absent) | (empty)']);
  t.deepEqual(run('<S xsi:nil="true"/>', ''), ['S absence nil absent: (nil) | (absent)']);
  t.deepEqual(run('<S xsi:nil="1"/>', '<S/>'), ['S absence nil empty: (nil) | (empty)']);
  t.deepEqual(run('', '<S>a</S>'), ['S extra:  | a']);
  t.deepEqual(run('<L/>', ''), ['L absence empty absent: [] | (absent)']);
  t.deepEqual(run('<L/>', '<L><i>1</i></L>'), ['L[0] extra:  | 1']);
  t.deepEqual(run('', '<L><i>1</i></L>'), ['L extra:  | [1]']);
  t.deepEqual(run('', '<R>1</R>'), ['R[0] extra:  | 1']);
  t.deepEqual(run('<O/>', ''), ['O absence empty absent: {} | (absent)']);
  t.deepEqual(run('<O/>', '<O><a>1</a></O>'), ['O.a extra:  | 1']);
});

test('lists in lists, choices and repeated groups are compared by their items (G39)', (t) => {
  const run = comparing(
    t,
    sequence(
      one('Row', 't:Row', 'maxOccurs="unbounded"'),
      '<xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="a" type="xs:int"/><xs:element name="b" type="xs:string"/></xs:choice>',
    ),
    {
      declarations:
        '<xs:complexType name="Row"><xs:sequence><xs:element name="Cell" type="xs:int" maxOccurs="unbounded"/></xs:sequence></xs:complexType>',
    },
  );
  const row = (...cells: readonly number[]): string =>
    `<Row>${cells.map((cell) => `<Cell>${cell}</Cell>`).join('')}</Row>`;
  t.deepEqual(run(row(1, 2) + row(3, 4), row(1, 2) + row(3, 5)), ['Row[1].Cell[1] value other: 4 | 5']);
  t.deepEqual(run(row(1, 2) + row(3, 4), row(2, 1) + row(3, 4)), ['Row[0].Cell order:  | ']);
  t.deepEqual(run(row(1) + row(2), row(2) + row(1)), ['Row order:  | ']);
  t.deepEqual(run('<a>1</a><b>x</b>', '<b>x</b><a>1</a>'), ['@items order:  | ']);
  t.deepEqual(run('<a>1</a><b>x</b>', '<a>1</a><b>X</b>'), ['@items[1].b value case: x | X']);
});

test('derived types, substitution groups and values of any type are compared by the actual type (G37, G40)', (t) => {
  const run = comparing(
    t,
    `<xs:complexType><xs:sequence>${one('P', 't:Pet')}<xs:element ref="t:Path" minOccurs="0"/>${one('A', 'xs:anyType')}</xs:sequence></xs:complexType>`,
    {
      declarations:
        '<xs:complexType name="Pet"><xs:sequence><xs:element name="n" type="xs:string"/></xs:sequence></xs:complexType>' +
        '<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Pet"><xs:sequence><xs:element name="w" type="xs:decimal"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>' +
        '<xs:element name="Path" type="xs:anySimpleType" abstract="true"/><xs:element name="Field" type="xs:string" substitutionGroup="t:Path"/><xs:element name="Id" type="xs:int" substitutionGroup="t:Path"/>',
    },
  );
  const declared = 'xmlns:t="urn:t" xmlns:xs="http://www.w3.org/2001/XMLSchema"';
  t.deepEqual(run(`<P ${declared} xsi:type="t:Pet"><n>a</n></P>`, '<P><n>a</n></P>'), []);
  t.deepEqual(
    run(
      `<P ${declared} xsi:type="t:Dog"><n>a</n><w>1.0</w></P>`,
      `<P ${declared} xsi:type="t:Dog"><n>a</n><w>1</w></P>`,
    ),
    ['P.w scale'],
  );
  t.deepEqual(run(`<P ${declared} xsi:type="t:Dog"><n>a</n><w>1</w></P>`, '<P><n>a</n></P>'), [
    'P type: Dog | (absent)',
    'P.w missing: 1 | ',
  ]);
  t.deepEqual(run('<Field>x</Field>', '<Field>X</Field>'), ['Path.Field value case: x | X']);
  t.deepEqual(run('<Field>7</Field>', '<Id>7</Id>'), ['Path.Field missing: 7 | ', 'Path.Id extra:  | 7']);
  t.deepEqual(run('<Id>7</Id>', '<Id>+7</Id>'), []);
  t.deepEqual(run(`<A ${declared} xsi:type="xs:int">7</A>`, `<A ${declared} xsi:type="xs:int">007</A>`), []);
  t.deepEqual(
    run(`<A ${declared} xsi:type="xs:int">7</A>`, `<A ${declared} xsi:type="xs:string">7</A>`).length,
    1,
  );
  t.deepEqual(
    run('<A><q xmlns="urn:q" b="1" a="2"/></A>', '<A><z:q xmlns:z="urn:q" a="2" b="1"></z:q></A>'),
    [],
  );
  t.is(run('<A><q xmlns="urn:q">1</q></A>', '<A><q xmlns="urn:r">1</q></A>').length, 1);
});

test('the body of a reply is compared by its actual type, too (G37, G40)', (t) => {
  const run = comparing(t, `<xs:complexType><xs:sequence/></xs:complexType>`, {
    element: 't:B',
    declarations:
      '<xs:complexType name="B"><xs:sequence><xs:element name="A" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType>' +
      '<xs:complexType name="D"><xs:complexContent><xs:extension base="t:B"><xs:sequence><xs:element name="E" type="xs:decimal" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>',
  });
  const get = (content: string, type = ''): string =>
    `<Get xmlns="urn:t" xmlns:t="urn:t" ${xsi}${type === '' ? '' : ` xsi:type="t:${type}"`}>${content}</Get>`;
  t.deepEqual(run(get('<E>1</E>', 'D'), get('<E>2</E>', 'D')), ['E value other: 1 | 2']);
  t.deepEqual(run(get('<E>1</E>', 'D'), get('<E>1.0</E>', 'D')), ['E scale']);
  t.deepEqual(run(get('<A>1</A><E>1</E>', 'D'), get('<A>2</A><E>1</E>', 'D')), ['A value other: 1 | 2']);
  t.deepEqual(run(get('<A>1</A>', 'B'), get('<A>1</A>')), []);
  t.deepEqual(run(get('<A>1</A>', 'D'), get('<A>1</A>')), ['@reply type: D | (absent)']);
  t.deepEqual(run(get('<A>1</A>'), get('<A>1</A><E>1</E>', 'D')), [
    '@reply type: (absent) | D',
    'E extra:  | 1',
  ]);
});

for (const type of ['xs:anyType', 'xs:anySimpleType', 't:L'])
  test(`a body of ${type} is compared (G38)`, (t) => {
    const declarations = '<xs:simpleType name="L"><xs:list itemType="xs:int"/></xs:simpleType>';
    const run = comparing(t, '<xs:complexType/>', { element: type, declarations });
    const get = (content: string): string => `<Get xmlns="urn:t">${content}</Get>`;
    t.deepEqual(run(get('1 2'), get('1 2')), []);
    t.is(run(get('1 2'), get('1 3')).length, 1);
    t.deepEqual(run(get('1 2'), get(' <!-- --> 1 2').replace(' <!-- --> ', '')), []);
  });

test('mixed and open content is compared by its infoset (G38)', (t) => {
  const run = comparing(
    t,
    sequence(
      '<xs:element name="M" minOccurs="0"><xs:complexType mixed="true"><xs:sequence><xs:any minOccurs="0" maxOccurs="unbounded" processContents="skip"/></xs:sequence></xs:complexType></xs:element>',
      '<xs:any namespace="##other" minOccurs="0" maxOccurs="unbounded" processContents="lax"/>',
    ),
  );
  t.deepEqual(
    run('<M>a <b xmlns="urn:b">c</b></M>', '<M>a <k:b xmlns:k="urn:b"><![CDATA[c]]></k:b></M>'),
    [],
  );
  t.deepEqual(run('<M>a</M>', '<M>A</M>'), ['M value other: a | A']);
  t.deepEqual(run('<M>a</M>', '<M/>'), ['M value empty: a | (empty)']);
  t.deepEqual(run('<o:x xmlns:o="urn:o"><o:y/> <o:y/></o:x>', '<x xmlns="urn:o">\n<y/><y/></x>'), []);
  t.deepEqual(run('<o:x xmlns:o="urn:o"> </o:x>', '<o:x xmlns:o="urn:o"/>').length, 1);
  t.deepEqual(run('<o:x xmlns:o="urn:o" o:a="1"/>', '<o:x xmlns:o="urn:o" a="1"/>').length, 1);
  t.deepEqual(
    run('<o:x xmlns:o="urn:o"/><o:y xmlns:o="urn:o"/>', '<o:y xmlns:o="urn:o"/><o:x xmlns:o="urn:o"/>'),
    ['@any order:  | '],
  );
});

test('the default of an absent attribute is its value, with a note (G36)', (t) => {
  const type = `<xs:complexType><xs:sequence>${one('I', 't:I', 'maxOccurs="9"')}</xs:sequence><xs:attribute name="flag" type="xs:boolean" default="1"/><xs:attribute name="unit" type="xs:string" fixed="kg"/></xs:complexType>`;
  const declarations =
    '<xs:complexType name="I"><xs:attribute name="n" type="xs:int" default="5"/></xs:complexType>';
  const run = comparing(t, type, { declarations });
  t.deepEqual(run('<Get xmlns="urn:t"/>', '<Get xmlns="urn:t" flag="true" unit="kg"/>'), [
    'flag default',
    'unit default',
  ]);
  t.deepEqual(run('<Get xmlns="urn:t"/>', '<Get xmlns="urn:t" flag="false"/>'), ['flag extra:  | false']);
  t.deepEqual(run('<I/><I n="1"/>', '<I n="5"/><I n="1"/>'), ['I[0].n default']);
});

test('the default of an empty element is its value, with a note (G36)', (t) => {
  const declared = sequence(
    one('V', 'xs:string', 'default="Open"'),
    one('N', 'xs:int', 'default="5" maxOccurs="9"'),
    one('O', 't:O'),
  );
  const declarations = `<xs:complexType name="O"><xs:sequence>${one('V', 'xs:string', 'default="Open"')}</xs:sequence></xs:complexType>`;
  const run = comparing(t, declared, { declarations });
  t.deepEqual(run('<V/>', '<V>Open</V>'), ['V default']);
  t.deepEqual(run('<V>Open</V>', '<V></V>'), ['V default']);
  t.deepEqual(run('<V/>', '<V/>'), []);
  t.deepEqual(run('<V/>', '<V>Shut</V>'), ['V value other: Open | Shut']);
  t.deepEqual(run('<V/>', ''), ['V missing: Open | ']);
  t.deepEqual(run('<N>1</N><N/>', '<N>1</N><N>5</N>'), ['N[1] default']);
  t.deepEqual(run('<O><V/></O>', '<O><V>Open</V></O>'), ['O.V default']);
  t.deepEqual(run('<O><V/></O>', ''), ['O missing: {"V":"Open"} | ']);
  const strict = comparing(t, declared, { declarations, strict: true });
  t.deepEqual(strict('<V/>', '<V>Open</V>'), ['V value default:  | ']);
  const rules = [{ path: 'N', sameSet: true, reason: because }];
  const sets = comparing(t, declared, { declarations, strict: true, rules });
  t.deepEqual(sets('<N>1</N><N/>', '<N/><N>1</N>'), []);
});

test('the default of an absent attribute may be a list (G36)', (t) => {
  const list = '<xs:simpleType name="L"><xs:list itemType="xs:int"/></xs:simpleType>';
  const item = '<xs:complexType name="I"><xs:attribute name="n" type="t:L" default="1 2"/></xs:complexType>';
  const type = `<xs:complexType><xs:sequence>${one('I', 't:I', 'maxOccurs="9"')}</xs:sequence><xs:attribute name="n" type="t:L" default=" 1  2 "/></xs:complexType>`;
  const run = comparing(t, type, { declarations: list + item });
  t.deepEqual(run('<Get xmlns="urn:t"/>', '<Get xmlns="urn:t" n="01 2"/>'), ['n default']);
  t.deepEqual(run('<Get xmlns="urn:t" n="1 2"/>', '<Get xmlns="urn:t"/>'), ['n default']);
  t.is(run('<Get xmlns="urn:t"/>', '<Get xmlns="urn:t" n="2 1"/>').length, 1);
  t.is(run('<Get xmlns="urn:t"/>', '<Get xmlns="urn:t" n=""/>').length, 1);
  t.deepEqual(run('<I/><I n="1"/>', '<I n="1 2"/><I n="1"/>'), ['I[0].n default']);
  t.deepEqual(run('<I n="1"/><I/>', '<I n="1 2"/><I n="1"/>'), ['I order:  | ']);
});

test('violations of the contract are notes, and their values are compared as text (G34)', (t) => {
  const run = comparing(
    t,
    sequence(
      '<xs:element name="A" type="xs:int"/>',
      one('S', 't:Color'),
      one('N', 'xs:int', 'maxOccurs="9"'),
      one('O', 't:O'),
    ),
    {
      declarations: `${types}<xs:complexType name="O"><xs:sequence><xs:element name="a" type="xs:int" minOccurs="0"/></xs:sequence><xs:attribute name="c" type="xs:int"/></xs:complexType>`,
    },
  );
  t.deepEqual(run('<A>x</A>', '<A>1</A>'), ['A value other: x | 1', 'A offContract InvalidType']);
  t.deepEqual(run('<A>99999999999</A>', '<A>99999999999</A>'), ['A offContract OutOfRange']);
  t.deepEqual(run('<A></A>', '<A>1</A>'), ['A value empty: (empty) | 1', 'A offContract NotEmpty']);
  t.deepEqual(run('', '<A>1</A>'), ['A extra:  | 1', 'A offContract NotEmpty']);
  t.deepEqual(run('<A>1</A><B>2</B>', '<A>1</A>'), ['B offContract UnknownElement']);
  t.deepEqual(run('<A>1</A><A>2</A>', '<A>1</A>'), ['A offContract DuplicateElement']);
  t.deepEqual(run('<A>1</A><O c="x" d="1"/>', '<A>1</A><O/>'), [
    'O.c missing: x | ',
    'O.c offContract InvalidType',
    'O.d offContract UnknownElement',
  ]);
  t.deepEqual(run('<A xsi:nil="true"/>', '<A>1</A>'), [
    'A absence nil present: (nil) | 1',
    'A offContract NotEmpty',
  ]);
  t.deepEqual(run('<A>1</A><N>1</N><N>?</N>', '<A>1</A><N>1</N><N>2</N>'), [
    'N[1] value other: ? | 2',
    'N[1] offContract InvalidType',
  ]);
  t.deepEqual(run('<A><b>1</b></A>', '<A>1</A>'), [
    'A value other: <b>1</b> | 1',
    'A offContract InvalidType',
  ]);
  t.deepEqual(run('<A>1</A><S>red </S>', '<A>1</A><S>red</S>'), [
    'S value whitespace: red  | red',
    'S offContract InvalidEnum',
  ]);
  t.deepEqual(run('<A>1</A><O xmlns:z="urn:z" z:d="1"/>', '<A>1</A><O/>'), [
    'O.d offContract UnknownElement',
  ]);
  t.deepEqual(run('<A>1</A>text', '<A>1</A>'), [' offContract InvalidType']);
  t.deepEqual(run('<A>1</A><O xmlns:t="urn:t" xsi:type="t:None"><a>1</a></O>', '<A>1</A><O><a>2</a></O>'), [
    'O.a value other: 1 | 2',
    'O offContract InvalidType',
  ]);
});

test('with strict, notes and violations are differences (G36)', (t) => {
  const run = comparing(t, sequence(one('A', 'xs:decimal'), one('T', 'xs:dateTime')), { strict: true });
  t.deepEqual(run('<A>1</A><T>2026-03-01T00:00:00Z</T>', '<A>1.0</A><T>2026-03-01T01:00:00+01:00</T>'), [
    'A value scale: 1 | 1.0',
    'T value offset: 2026-03-01T00:00:00Z | 2026-03-01T01:00:00+01:00',
  ]);
  t.deepEqual(run('<A>x</A>', '<A>1</A>'), ['A value offContract: InvalidType | ', 'A value other: x | 1']);
});

const orders = readContract(contractFolder('contracts/orders')).contract;

/** Returns a function that compares two replies of GetOrder. */
function comparingOrders(t: ExecutionContext, rules: readonly object[] = [], now = 0) {
  const problems: string[] = [];
  const compiled = compileRules(rules, '', { contract: orders }, (at, message) =>
    problems.push(`${at}: ${message}`),
  );
  t.deepEqual(problems, []);
  const { compare } = compileComparison(orders, { rules: compiled, strict: false });
  return (legacy: ReplyBytes, fresh: ReplyBytes) => told(compare('GetOrder', legacy, fresh, now));
}

const ns = 'xmlns="http://orders.example/"';

/** Returns a reply of GetOrder with this content after the required members. */
function order(
  content = '',
  { placed = '2006-03-01T09:30:00Z', total = '10.50', status = 'Open', header = '' } = {},
) {
  const members = `<Placed>${placed}</Placed><Shipped ${xsi} xsi:nil="true"/><Total>${total}</Total><Status>${status}</Status>`;
  const body = `<GetOrderResponse ${ns}><GetOrderResult id="17">${members}${content}</GetOrderResult></GetOrderResponse>`;
  return legacyReply({ status: 200, body: envelope(body, header) });
}

const soap12 = 'http://www.w3.org/2003/05/soap-envelope';

function fault11(code: string, reason: string, detail = '', status = 500): ReplyBytes {
  const body = `<s:Fault><faultcode>${code}</faultcode><faultstring>${reason}</faultstring>${detail === '' ? '' : `<detail>${detail}</detail>`}</s:Fault>`;
  return legacyReply({ status, body: envelope(body) });
}

function fault12(code: string, reason: string, detail = '', status = 500): ReplyBytes {
  const subcode = /\/(.*)/.exec(code)?.[1];
  const inner =
    subcode === undefined ? '' : `<e:Subcode><e:Value xmlns:q="urn:q">${subcode}</e:Value></e:Subcode>`;
  const body = `<e:Envelope xmlns:e="${soap12}"><e:Body><e:Fault><e:Code><e:Value>${code.replace(/\/.*/, '')}</e:Value>${inner}</e:Code><e:Reason><e:Text xml:lang="en">${reason}</e:Text></e:Reason>${detail === '' ? '' : `<e:Detail>${detail}</e:Detail>`}</e:Fault></e:Body></e:Envelope>`;
  return { status, contentType: 'application/soap+xml; charset=utf-8', body: Buffer.from(body) };
}

const notFound = (id: string, hint = ''): string =>
  `<o:OrderNotFound xmlns:o="http://orders.example/"><o:orderId>${id}</o:orderId>${hint}</o:OrderNotFound>`;

test('faults of both versions are compared by status, code, name, reason and members (G41)', (t) => {
  const run = comparingOrders(t);
  const server = fault11('s:Server', 'gone', notFound('99'));
  t.deepEqual(run(server, fault12('e:Receiver', 'gone', notFound('+99'))), []);
  t.deepEqual(run(server, order()), ['@fault fault: Server OrderNotFound | reply']);
  t.deepEqual(run(order(), fault12('e:Sender', 'no')), ['@fault fault: reply | Client']);
  t.deepEqual(run(server, fault11('s:Server', 'gone', notFound('98'))), [
    '@fault.OrderNotFound.orderId value other: 99 | 98',
  ]);
  t.deepEqual(run(server, fault11('s:Server', 'gone', '<x xmlns="urn:x"/>')), [
    '@fault.name fault: OrderNotFound | (absent)',
  ]);
  t.deepEqual(run(server, fault11('s:Server', 'gone', notFound('99'), 404)), ['@status status: 500 | 404']);
  t.deepEqual(run(fault11('s:Client', 'a'), fault12('e:Sender/q:NoStock', 'b')), [
    '@fault.code fault: Client | Client.{urn:q}NoStock',
    '@fault.reason value other: a | b',
  ]);
  t.deepEqual(run(fault11('s:Server.NoStock', 'a'), fault12('e:Receiver/NoStock', 'a')), []);
  t.deepEqual(run(fault11('s:Server.NoStock', 'a'), fault12('e:Receiver/Server.NoStock', 'a')), []);
  t.deepEqual(run(fault11('Server', 'a'), fault11('s:Server', 'a')), []);
  t.deepEqual(run(fault11('s:Server', 'a', notFound('x')), fault11('s:Server', 'a', notFound('1'))), [
    '@fault.OrderNotFound.orderId value other: x | 1',
    '@fault.OrderNotFound.orderId offContract InvalidType',
  ]);
});

test('a fault may have its reason in several languages (G41)', (t) => {
  const run = comparingOrders(t);
  const others = '</e:Text><e:Text xml:lang="de">weg</e:Text><e:Text xml:lang="fr">parti';
  const several = fault12('e:Receiver', `gone${others}`, notFound('99'));
  t.deepEqual(run(several, fault12('e:Receiver', 'gone', notFound('99'))), []);
  t.deepEqual(run(fault11('s:Server', 'gone', notFound('98')), several), [
    '@fault.OrderNotFound.orderId value other: 98 | 99',
  ]);
  t.deepEqual(run(several, fault12('e:Receiver', 'weg', notFound('99'))), [
    '@fault.reason value other: gone | weg',
  ]);
});

test('a header block that one side lacks is a difference below @headers (G42)', (t) => {
  const run = comparingOrders(t);
  const quota = (left: string): string =>
    `<q:QuotaHeader xmlns:q="http://orders.example/"><q:callsLeft>${left}</q:callsLeft></q:QuotaHeader><z:Other xmlns:z="urn:z"/>`;
  t.deepEqual(run(order('', { header: quota('9') }), order('', { header: quota('+9') })), []);
  t.deepEqual(run(order('', { header: quota('9') }), order('', { header: quota('8') })), [
    '@headers.QuotaHeader.callsLeft value other: 9 | 8',
  ]);
  t.deepEqual(run(order('', { header: quota('9') }), order()), [
    '@headers.QuotaHeader missing: {"callsLeft":9} | ',
  ]);
  t.deepEqual(run(order(), order('', { header: quota('9') })), [
    '@headers.QuotaHeader extra:  | {"callsLeft":9}',
  ]);
});

test('prefixes, comments, instructions, charsets and the SOAP version are ignored (G33, G37)', (t) => {
  const run = comparingOrders(t);
  const { body, status } = order('<Invoice>Zo\u00eb &amp; <![CDATA[<?x?>]]></Invoice>');
  const text = Buffer.from(body).toString();
  const sent = (
    changed: string,
    encoding: BufferEncoding = 'utf8',
    contentType = 'text/xml',
  ): ReplyBytes => ({ status, contentType, body: Buffer.from(changed, encoding) });
  const plain = sent(text);
  t.deepEqual(run(plain, sent(`\ufeff<?xml version="1.0" encoding="utf-16"?>${text}`, 'utf16le')), []);
  t.deepEqual(run(plain, sent(`<?xml version="1.0" encoding="iso-8859-1"?>${text}`, 'latin1')), []);
  t.deepEqual(run(plain, sent(text, 'latin1', 'text/xml; charset=ISO-8859-1')), []);
  t.deepEqual(
    run(
      plain,
      sent(
        text
          .replace('<Status>', '<!-- a <b> --><?pi a?><Status><?pi b?>')
          .replace('<s:Body>', '<?a?><s:Body>'),
      ),
    ),
    [],
  );
  t.deepEqual(
    run(
      plain,
      sent(
        text.replaceAll('http://schemas.xmlsoap.org/soap/envelope/', soap12),
        'utf8',
        'application/soap+xml',
      ),
    ),
    [],
  );
  t.deepEqual(
    run(plain, sent(text.replace('Zo\u00eb', 'Zo&#235;').replaceAll('><', '>\n<').replace(']]>\n', ']]>'))),
    [],
  );
});

/** Returns an MTOM package of an envelope and a part. */
function packed(boundary: string, id: string, data: string, root: string): ReplyBytes {
  const contentType = `multipart/related; type="application/xop+xml"; boundary="${boundary}"; start="<r>"; start-info="text/xml"`;
  const body = `--${boundary}\r\nContent-Type: application/xop+xml; charset=UTF-8; type="text/xml"\r\nContent-ID: <r>\r\n\r\n${root.replace('DATA', `<x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:${id}"/>`)}\r\n--${boundary}\r\nContent-Type: application/octet-stream\r\nContent-ID: <${id}>\r\n\r\n${data}\r\n--${boundary}--`;
  return { status: 200, contentType, body: Buffer.from(body, 'latin1') };
}

test('packages are compared by the bytes of their parts (G38, G42)', (t) => {
  const { contract } = readContract(contractFolder('contracts/agency'));
  const { compare } = compileComparison(contract);
  const run = (legacy: ReplyBytes, fresh: ReplyBytes) => told(compare('GetApplicationZip', legacy, fresh));
  const root = envelope(
    '<a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler>DATA</a:FileDataHandler></a:GetApplicationZipResponse>',
  );
  const inline = legacyReply({ status: 200, body: root.replace('DATA', 'UEsD\n BA==') });
  t.deepEqual(run(packed('a', 'f1', 'PK\x03\x04', root), packed('b', 'g2', 'PK\x03\x04', root)), []);
  t.deepEqual(run(packed('a', 'f1', 'PK\x03\x04', root), packed('b', 'g2', 'PK\x03\x05', root)), [
    'FileDataHandler value bytes: UEsDBA== | UEsDBQ==',
  ]);
  t.deepEqual(run(inline, packed('b', 'g2', 'PK\x03\x04', root)), [
    '@frame frame: plain | multipart/related',
  ]);
  t.deepEqual(run({ ...inline, contentType: 'application/xml' }, inline), [
    '@frame frame: application/xml | plain',
  ]);
});

test('G27, G38: an attachment without its bytes is compared by size and SHA-256', (t) => {
  const { contract } = readContract(contractFolder('contracts/agency'));
  const { compare } = compileComparison(contract);
  const root = envelope(
    '<a:GetApplicationZipResponse xmlns:a="http://desk.example/services/Agency-V2"><a:FileDataHandler>DATA</a:FileDataHandler></a:GetApplicationZipResponse>',
  );
  const bytes = Buffer.alloc(5_000, 'PK');
  const attached = (content: Buffer): ReplyBytes => ({
    ...packed('a', 'f1', '', root),
    digests: new Map([[0, digestOf(content)]]),
  });
  const whole = packed('b', 'g2', bytes.toString('latin1'), root);
  const run = (legacy: ReplyBytes, fresh: ReplyBytes) => told(compare('GetApplicationZip', legacy, fresh));
  t.deepEqual(run(attached(bytes), whole), []);
  t.deepEqual(run(whole, attached(bytes)), []);
  t.deepEqual(run(attached(bytes), attached(bytes)), []);
  const inline = legacyReply({ status: 200, body: root.replace('DATA', `\n${bytes.toString('base64')}`) });
  t.deepEqual(run(attached(bytes), inline), ['@frame frame: multipart/related | plain']);
  const other = Buffer.from(bytes);
  other[4_999] = 0;
  t.deepEqual(run(attached(other), whole), [
    `FileDataHandler value bytes: ${digestOf(other)} | ${bytes.toString('base64').slice(0, 256)}`,
  ]);
  const [forged] = [root.replace('DATA', digestOf(bytes))];
  const { notes } = compare('GetApplicationZip', legacyReply({ status: 200, body: forged ?? '' }), whole);
  t.deepEqual(notes, [{ path: 'FileDataHandler', note: 'offContract', code: 'InvalidType' }]);
});

test('a reply without an envelope or with another payload is unreadable (G40)', (t) => {
  const run = comparingOrders(t);
  const page = (body: string, contentType = 'text/xml'): ReplyBytes => ({
    status: 200,
    contentType,
    body: Buffer.from(body),
  });
  const reasons: readonly (readonly [ReplyBytes, string])[] = [
    [page('<html/>', 'text/html'), 'no envelope'],
    [page(''), 'no well-formed XML'],
    [page('<s:Envelope xmlns:s="urn:other"/>'), 'no envelope'],
    [page(envelope('')), 'an empty body'],
    [page(envelope('<x/>')), 'another payload'],
    [page(envelope('<GetOrderResponse/>')), 'another payload'],
    [page(Buffer.from(order().body).toString().slice(0, -20)), 'no well-formed XML'],
    [page(envelope('<x/>'), 'text/xml; charset=none'), 'an unsupported charset'],
    [page('--b', 'multipart/related; boundary=b'), 'a malformed package'],
  ];
  for (const [reply, reason] of reasons) {
    t.deepEqual(run(reply, order()), [`@reply unreadable: ${reason} | reply`]);
    t.deepEqual(run(order(), reply), [`@reply unreadable: reply | ${reason}`]);
  }
  t.deepEqual(run(page('<html/>'), fault11('s:Server', 'a')), ['@reply unreadable: no envelope | fault']);
});

test('at most 200 differences are kept, with values of at most 256 characters (G40)', (t) => {
  const run = comparingOrders(t);
  const labels = (count: number, text: string): string =>
    `<Labels>${`<string>${text}</string>`.repeat(count)}</Labels>`;
  t.is(run(order(labels(200, 'a')), order(labels(200, 'b'))).length, 200);
  t.deepEqual(run(order(labels(201, 'a')), order(labels(201, 'b'))).at(-1), '1 more');
  const { compare } = compileComparison(orders);
  const long = (length: number) =>
    compare('GetOrder', order(`<Invoice>${'a'.repeat(length)}</Invoice>`), order('<Invoice>b</Invoice>'))
      .differences[0]?.legacy?.length;
  t.is(long(256), 256);
  t.is(long(257), 256);
});

const because = 'because';
const explained: readonly (readonly [
  rule: object,
  legacy: ReplyBytes,
  fresh: ReplyBytes,
  isExplained: boolean,
])[] = [
  [{ path: '**.Total', tolerance: 0.01 }, order(), order('', { total: '10.51' }), true],
  [{ path: '**.Total', tolerance: '0.01' }, order('', { total: '1.1' }), order('', { total: '1.11' }), true],
  [{ path: '**.Total', tolerance: 0.01 }, order(), order('', { total: '10.5101' }), false],
  [{ path: '**.Total', tolerance: '10%' }, order('', { total: '-100' }), order('', { total: '-110' }), true],
  [
    { path: '**.Total', tolerance: '10%' },
    order('', { total: '-100' }),
    order('', { total: '-110.01' }),
    false,
  ],
  [{ path: '**.Total', tolerance: '2s' }, order(), order('', { total: '10.51' }), false],
  [{ path: '**.Placed', tolerance: '2s' }, order(), order('', { placed: '2006-03-01T09:30:02Z' }), true],
  [{ path: '**.Placed', tolerance: '2s' }, order(), order('', { placed: '2006-03-01T09:30:02.001Z' }), false],
  [{ path: '**.Placed', tolerance: '1m' }, order(), order('', { placed: '2006-03-01T10:31:00+01:00' }), true],
  [{ path: '**.Placed', tolerance: '1d' }, order(), order('', { placed: '2006-03-01T09:30:00' }), false],
  [{ path: '**.Status', map: { Open: 'Shipped' } }, order(), order('', { status: 'Shipped' }), true],
  [{ path: '**.Status', map: { Shipped: 'Open' } }, order(), order('', { status: 'Shipped' }), false],
  [{ path: '**.Total', map: { '10.5': 11 } }, order(), order('', { total: '11.00' }), true],
  [{ path: '**.Labels', absence: ['absent', 'empty'] }, order('<Labels/>'), order(), true],
  [{ path: '**.Labels', absence: ['nil', 'empty'] }, order('<Labels/>'), order(), false],
  [
    { path: '**.Invoice', text: ['case', 'truncated'] },
    order('<Invoice>A</Invoice>'),
    order('<Invoice>a</Invoice>'),
    true,
  ],
  [
    { path: '**.Invoice', text: ['case'] },
    order('<Invoice>A</Invoice>'),
    order('<Invoice>A </Invoice>'),
    false,
  ],
  [{ path: '**.Invoice', text: ['case'] }, order('<Invoice>A</Invoice>'), order(), false],
  [{ path: '**.Invoice', ignore: true }, order('<Invoice>A</Invoice>'), order(), true],
  [{ path: '@fault', ignore: true }, fault11('s:Server', 'a'), order(), true],
  [{ path: '@fault.reason', text: ['case'] }, fault11('s:Server', 'a'), fault11('s:Server', 'A'), true],
  [{ path: '@frame', ignore: true }, { ...order(), contentType: 'application/xml' }, order(), true],
  [{ path: '@reply', ignore: true }, { ...order(), body: Buffer.from('') }, order(), true],
  [{ operation: 'PlaceOrder', path: '**', ignore: true }, order(), order('', { total: '1' }), false],
  [{ path: '**', ignore: true, until: '1969-12-31T23:59:59Z' }, order(), order('', { total: '1' }), false],
];
for (const [index, [rule, legacy, fresh, isExplained]] of explained.entries())
  test(`rule ${index} ${JSON.stringify(rule)} ${isExplained ? 'explains' : 'does not explain'} the difference (G43, G44)`, (t) => {
    const [line = '', ...others] = comparingOrders(t, [{ reason: because, ...rule }])(legacy, fresh);
    t.deepEqual(others, []);
    t.is(line.endsWith('(rule 0)'), isExplained, line);
  });

test('a tolerance in days explains dates (G43)', (t) => {
  const rules = [{ path: 'D', tolerance: '1d', reason: because }];
  const run = comparing(t, sequence(one('D', 'xs:date')), { rules });
  t.deepEqual(run('<D>2026-03-01</D>', '<D>2026-02-28</D>'), [
    'D value other: 2026-03-01 | 2026-02-28 (rule 0)',
  ]);
  t.deepEqual(run('<D>2026-03-01</D>', '<D>2026-02-27</D>'), ['D value other: 2026-03-01 | 2026-02-27']);
});

test('a tolerance in seconds explains times around midnight, and durations of equal months (G43)', (t) => {
  const rules = [{ path: '**', tolerance: '2s', reason: because }];
  const run = comparing(t, sequence(one('T', 'xs:time'), one('D', 'xs:duration')), { rules });
  const explains = (name: string, legacy: string, fresh: string): boolean =>
    run(`<${name}>${legacy}</${name}>`, `<${name}>${fresh}</${name}>`).every((line) =>
      line.includes('(rule 0)'),
    );
  t.true(explains('T', '23:59:59Z', '00:00:00Z'));
  t.true(explains('T', '00:00:01', '23:59:59'));
  t.false(explains('T', '23:59:59Z', '00:00:02Z'));
  t.false(explains('T', '23:59:59Z', '00:00:00'));
  t.true(explains('D', 'PT10S', 'PT11S'));
  t.true(explains('D', 'PT10.5S', 'PT12.5S'));
  t.false(explains('D', 'PT10S', 'PT12.001S'));
  t.true(explains('D', 'P1Y2DT1S', 'P12M2DT3S'));
  t.true(explains('D', '-PT1S', 'PT1S'));
  t.false(explains('D', '-PT1S', 'PT2S'));
  t.false(explains('D', '-P1M', 'P1M'));
  t.false(explains('D', 'P1M', 'P30D'));
  t.false(explains('D', 'P', 'PT0S'));
});

test('the first rule that explains a difference counts (G44)', (t) => {
  const rules = [
    { path: '**.Total', tolerance: 0.001, reason: because },
    { path: '**.Total', tolerance: 1, reason: because },
    { path: '**', ignore: true, reason: because },
  ];
  t.deepEqual(comparingOrders(t, rules)(order(), order('', { total: '11' })), [
    'GetOrderResult.Total value other: 10.50 | 11 (rule 1)',
  ]);
});

function line(article: string, price: string, quantity = 1): string {
  return `<Line quantity="${quantity}"><Article>${article}</Article><Price>${price}</Price></Line>`;
}

test('sameSet compares lists without their order, by key or by equal items (G43)', (t) => {
  const set = (sameSet: string | true) => comparingOrders(t, [{ path: '**.Line', sameSet, reason: because }]);
  const legacy = order(line('A', '1') + line('B', '2') + line('B', '3'));
  t.deepEqual(set(true)(legacy, order(line('B', '3.0') + line('A', '1') + line('B', '2'))), [
    'GetOrderResult.Line[2].Price scale',
  ]);
  t.deepEqual(set(true)(legacy, order(line('B', '3') + line('A', '9') + line('B', '2'))), [
    'GetOrderResult.Line[0] missing: {"quantity":1,"Article":"A","Price":1} | ',
    'GetOrderResult.Line[1] extra:  | {"quantity":1,"Article":"A","Price":9}',
  ]);
  t.deepEqual(set('Article')(legacy, order(line('B', '2') + line('A', '1') + line('B', '4'))), [
    'GetOrderResult.Line[Article=B].Price value other: 3 | 4',
  ]);
  t.deepEqual(set('quantity')(order(line('A', '1', 7)), order(line('A', '1', 8))), [
    'GetOrderResult.Line[quantity=7] missing: {"quantity":7,"Article":"A","Price":1} | ',
    'GetOrderResult.Line[quantity=8] extra:  | {"quantity":8,"Article":"A","Price":1}',
  ]);
});

test('sameSet pairs equal items first if several items have the same key (G43)', (t) => {
  const run = comparingOrders(t, [{ path: '**.Line', sameSet: 'Article', reason: because }]);
  const [two, three, four] = ['2', '3', '4'].map((price) => line('B', price)) as [string, string, string];
  t.deepEqual(run(order(two + three), order(three + two)), []);
  t.deepEqual(run(order(two + three + four), order(four + two + line('B', '9'))), [
    'GetOrderResult.Line[Article=B].Price value other: 3 | 9',
  ]);
  t.deepEqual(run(order(two + three), order(three)), [
    'GetOrderResult.Line[Article=B] missing: {"quantity":1,"Article":"B","Price":2} | ',
  ]);
  t.deepEqual(run(order(three), order(two + three)), [
    'GetOrderResult.Line[Article=B] extra:  | {"quantity":1,"Article":"B","Price":2}',
  ]);
});

test('timeZone gives the zone of a dateTime without an offset, also in a repeated hour (G43)', (t) => {
  const run = comparingOrders(t, [{ path: '**.Placed', timeZone: 'America/New_York', reason: because }]);
  const placed = (legacy: string, fresh: string) =>
    run(order('', { placed: legacy }), order('', { placed: fresh }));
  t.deepEqual(placed('2006-07-01T09:30:00', '2006-07-01T13:30:00Z'), ['GetOrderResult.Placed offset']);
  t.deepEqual(placed('2006-01-01T09:30:00', '2006-01-01T14:30:00Z'), ['GetOrderResult.Placed offset']);
  t.deepEqual(placed('2006-07-01T09:30:00', '2006-07-01T09:30:00.0'), []);
  t.deepEqual(placed('2006-07-01T09:30:00', '2006-07-01T14:30:00Z'), [
    'GetOrderResult.Placed value other: 2006-07-01T09:30:00 | 2006-07-01T14:30:00Z',
  ]);
  t.is(placed('2006-10-29T01:30:00', '2006-10-29T06:30:00Z').length, 1);
});

test('values of personal members and of credentials are marked', (t) => {
  const { compare } = compileComparison({
    ...orders,
    personal: ['Customer.Name', 'Invoice'],
    credentials: {
      member: undefined,
      send: 'headers',
      parts: [
        {
          name: 'Last4',
          xml: 'Last4',
          header: 'X-Last4',
          sent: { in: 'header', name: 'X-Last4' },
          required: false,
          secret: true,
        },
      ],
    },
  });
  const marksOf = (legacy: string, fresh: string) =>
    compare('GetOrder', order(legacy), order(fresh)).differences.map(
      ({ path, sensitivity }) => `${path} ${sensitivity ?? 'none'}`,
    );
  const customer = (name: string): string => `<Customer><Name>${name}</Name></Customer>`;
  t.deepEqual(marksOf(customer('Ann'), customer('Bea')), ['GetOrderResult.Customer.Name personal']);
  t.deepEqual(marksOf(customer('Ann'), ''), ['GetOrderResult.Customer personal']);
  t.deepEqual(marksOf('<Invoice>a</Invoice>', '<Invoice>b</Invoice>'), ['GetOrderResult.Invoice personal']);
  t.deepEqual(marksOf('<Card><Last4>1</Last4></Card>', ''), ['GetOrderResult.Card credential']);
  t.deepEqual(marksOf(line('A', '1'), line('A', '2')), ['GetOrderResult.Line[0].Price none']);
});
