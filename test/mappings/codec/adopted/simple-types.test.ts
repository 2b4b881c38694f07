import test from 'ava';
import { compileSimpleTypes, type SimpleCodec } from '../../../../mappings/codec/adopted/simple-types.ts';
import { MismatchError } from '../../../../mappings/codec/problem.ts';
import { escapeXml } from '../../../../mappings/codec/scalars/text.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { defaultSettings } from '../../../../mappings/contract/overlay-keys.ts';
import { sentence } from '../../../../mappings/contract/reason.ts';
import type { BuiltIn, Facets, SimpleType } from '../../../../mappings/contract/type-graph.ts';
import { JsonError } from '../../../../mappings/json/grammar.ts';
import { JsonReader } from '../../../../mappings/json/reader.ts';
import { nodeKinds, Tape } from '../../../../mappings/json/tape.ts';
import { compiledGet, element as e, sequence } from './messages.ts';

const noFacets: Facets = {
  enumeration: undefined,
  patterns: [],
  whiteSpace: 'collapse',
  length: undefined,
  minLength: undefined,
  maxLength: undefined,
  minInclusive: undefined,
  maxInclusive: undefined,
  minExclusive: undefined,
  maxExclusive: undefined,
  totalDigits: undefined,
  fractionDigits: undefined,
};

function simple(
  builtIn: BuiltIn,
  facets: Partial<Facets> = {},
  variety: SimpleType['variety'] = { kind: 'atomic' },
  name?: string,
): SimpleType {
  return {
    kind: 'simple',
    name: name === undefined ? undefined : { namespace: 'urn:t', local: name },
    builtIn,
    base: undefined,
    variety,
    facets: { ...noFacets, ...facets },
    documentation: '',
  };
}

const list = (item: SimpleType): SimpleType => simple('anySimpleType', {}, { kind: 'list', item });
const union = (...members: SimpleType[]): SimpleType =>
  simple('anySimpleType', {}, { kind: 'union', members });
const text = (whiteSpace: Facets['whiteSpace'], builtIn: BuiltIn, ...enumeration: string[]): SimpleType =>
  simple(builtIn, { whiteSpace, ...(enumeration.length > 0 && { enumeration }) });

const simpleOf = compileSimpleTypes(defaultSettings.adopted, defaultLimits);
const namespaces: Readonly<Record<string, string>> = { '': 'urn:d', p: 'urn:p', none: '' };

/** Converts an XML text to a JSON token, or to the reason against it. */
function fromXml(codec: SimpleCodec, given: string): string {
  const token = codec.fromXml(given, (prefix) => namespaces[prefix]);
  if (typeof token === 'string') return token;
  return 'token' in token ? `${token.deviation}: ${token.token}` : `${token.code}: ${sentence(token.reason)}`;
}

function orMessage(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof MismatchError || error instanceof JsonError) return error.message;
    throw error;
  }
}

/** Converts a JSON value from text, preceded by the declarations that it needs. */
function toXml(codec: SimpleCodec, json: string): string {
  return orMessage(() => {
    const declared: string[] = [];
    const content = codec.toXml(new JsonReader(json, defaultLimits), declared, 'q');
    return [...(declared.length === 0 ? [] : [declared.join('')]), content ?? 'nothing'].join('|');
  });
}

const tape = new Tape();

/** Converts a JSON value from bytes. */
function scanned(codec: SimpleCodec, json: string): string {
  return orMessage(() => {
    tape.start(Buffer.from(json), defaultLimits);
    codec.scan(tape);
    tape.end();
    const [kind, from = 0, to = 0] = tape.words;
    if (kind === nodeKinds.nothing) return 'nothing';
    if (kind === nodeKinds.empty) return '';
    if (kind === nodeKinds.plain) return escapeXml(tape.slice(from, to), { replaced: 0 });
    if (kind === nodeKinds.text) return escapeXml(tape.decode(from, to), { replaced: 0 });
    return [...(to === 0 ? [] : [tape.made[to - 1]]), tape.made[from]].join('|');
  });
}

/** Each type with its description, XML texts with their JSON, and JSON values with their XML. */
const rows: readonly (readonly [
  title: string,
  type: SimpleType,
  is: string,
  read: readonly (readonly [xml: string, json: string])[],
  written: readonly (readonly [json: string, xml: string])[],
])[] = [
  [
    'xs:integer',
    simple('integer'),
    'xs:integer; plain',
    [
      ['0', '0'],
      ['-5', '-5'],
      ['+7', '7'],
      ['  8 ', '8'],
      ['1.0', 'InvalidType: expected xs:integer, got "1.0"'],
      ['x', 'InvalidType: expected xs:integer, got "x"'],
      ['', 'InvalidType: expected xs:integer, got ""'],
      ['9'.repeat(400), '9'.repeat(400)],
      [
        '9'.repeat(401),
        'OutOfRange: expected xs:integer of at most 400 digits, got "99999999999999999999999999999999…"',
      ],
    ],
    [
      ['1', '1'],
      ['-1', '-1'],
      ['0', '0'],
      ['-0', '0'],
      ['"12"', '12'],
      ['1.5', 'expected xs:integer, got a fraction'],
      ['1e2', '100'],
      ['true', 'expected xs:integer, got a boolean'],
      ['null', 'nothing'],
      ['"x"', 'expected xs:integer, got a string that is no number'],
      ['[]', 'expected xs:integer, got an array'],
    ],
  ],
  [
    'xs:nonPositiveInteger',
    simple('nonPositiveInteger'),
    'xs:nonPositiveInteger; plain',
    [
      ['0', '0'],
      ['-0', '0'],
      ['-1', '-1'],
      ['1', 'OutOfRange: expected xs:nonPositiveInteger, got "1"'],
      ['x', 'InvalidType: expected xs:integer, got "x"'],
    ],
    [
      ['0', '0'],
      ['-0', '0'],
      ['-1', '-1'],
      ['1', 'expected xs:nonPositiveInteger, got a number outside it'],
      ['"-3"', '-3'],
      ['"3"', 'expected xs:nonPositiveInteger, got a number outside it'],
      ['null', 'nothing'],
      ['true', 'expected xs:integer, got a boolean'],
    ],
  ],
  [
    'xs:negativeInteger',
    simple('negativeInteger'),
    'xs:negativeInteger; plain',
    [
      ['0', 'OutOfRange: expected xs:negativeInteger, got "0"'],
      ['-0', 'OutOfRange: expected xs:negativeInteger, got "-0"'],
      ['-1', '-1'],
      ['1', 'OutOfRange: expected xs:negativeInteger, got "1"'],
    ],
    [
      ['0', 'expected xs:negativeInteger, got a number outside it'],
      ['-1', '-1'],
      ['1', 'expected xs:negativeInteger, got a number outside it'],
    ],
  ],
  [
    'xs:nonNegativeInteger',
    simple('nonNegativeInteger'),
    'xs:nonNegativeInteger; plain',
    [
      ['0', '0'],
      ['-0', '0'],
      ['-1', 'OutOfRange: expected xs:nonNegativeInteger, got "-1"'],
      ['1', '1'],
      ['+1', '1'],
    ],
    [
      ['0', '0'],
      ['-0', '0'],
      ['-1', 'expected xs:nonNegativeInteger, got a number outside it'],
      ['1', '1'],
    ],
  ],
  [
    'xs:positiveInteger',
    simple('positiveInteger'),
    'xs:positiveInteger; plain',
    [
      ['0', 'OutOfRange: expected xs:positiveInteger, got "0"'],
      ['-0', 'OutOfRange: expected xs:positiveInteger, got "-0"'],
      ['-1', 'OutOfRange: expected xs:positiveInteger, got "-1"'],
      ['1', '1'],
    ],
    [
      ['0', 'expected xs:positiveInteger, got a number outside it'],
      ['-1', 'expected xs:positiveInteger, got a number outside it'],
      ['1', '1'],
    ],
  ],
  [
    'xs:int',
    simple('int'),
    'xs:int; plain',
    [
      ['2147483647', '2147483647'],
      ['2147483648', 'OutOfRange: expected xs:int from -2147483648 to 2147483647, got "2147483648"'],
      ['-2147483648', '-2147483648'],
      ['-2147483649', 'OutOfRange: expected xs:int from -2147483648 to 2147483647, got "-2147483649"'],
    ],
    [
      ['2147483647', '2147483647'],
      ['2147483648', 'expected xs:int from -2147483648 to 2147483647, got a number outside it'],
      ['-2147483648', '-2147483648'],
      ['-2147483649', 'expected xs:int from -2147483648 to 2147483647, got a number outside it'],
      ['999999999', '999999999'],
      ['-0', '0'],
    ],
  ],
  [
    'xs:unsignedByte',
    simple('unsignedByte'),
    'xs:unsignedByte; plain',
    [
      ['255', '255'],
      ['256', 'OutOfRange: expected xs:unsignedByte from 0 to 255, got "256"'],
      ['-1', 'OutOfRange: expected xs:unsignedByte from 0 to 255, got "-1"'],
      ['-0', '-0'],
    ],
    [
      ['255', '255'],
      ['256', 'expected xs:unsignedByte from 0 to 255, got a number outside it'],
      ['-1', 'expected xs:unsignedByte from 0 to 255, got a number outside it'],
      ['99', '99'],
    ],
  ],
  [
    'xs:decimal',
    simple('decimal'),
    'xs:decimal; plain',
    [
      ['1.50', '1.50'],
      ['-.5', '-0.5'],
      ['1.', '1'],
      ['1e2', 'decimalExponent: 100'],
      ['.', 'InvalidType: expected xs:decimal, got "."'],
    ],
    [
      ['1.50', '1.50'],
      ['1e2', '100'],
      ['1e-2', '0.01'],
      ['"2.5"', '2.5'],
    ],
  ],
  [
    'xs:float',
    simple('float'),
    'xs:float; plain',
    [
      ['3.5', '3.5'],
      ['INF', 'InvalidType: expected a finite xs:float, as JSON has no INF, got "INF"'],
      ['-INF', 'InvalidType: expected a finite xs:float, as JSON has no -INF, got "-INF"'],
      ['NaN', 'InvalidType: expected a finite xs:float, as JSON has no NaN, got "NaN"'],
      ['1e39', 'OutOfRange: expected xs:float that 32 bits hold, got "1e39"'],
      ['1e38', '1e38'],
      ['x', 'InvalidType: expected xs:float, got "x"'],
    ],
    [
      ['3.5', '3.5'],
      ['1e38', '1e38'],
      ['1e39', 'expected xs:float that 32 bits hold, got a number outside it'],
      ['"2"', '2'],
      ['"x"', 'expected xs:float, got a string that is no number'],
    ],
  ],
  [
    'xs:double',
    simple('double'),
    'xs:double; plain',
    [
      ['3.5', '3.5'],
      ['1e39', '1e39'],
      ['1e308', '1e308'],
      ['1e309', 'OutOfRange: expected xs:double that 64 bits hold, got "1e309"'],
    ],
    [
      ['1e39', '1e39'],
      ['1e308', '1e308'],
      ['1e309', 'expected xs:double that 64 bits hold, got a number outside it'],
    ],
  ],
  [
    'xs:boolean',
    simple('boolean'),
    'xs:boolean; plain',
    [
      ['true', 'true'],
      ['false', 'false'],
      ['1', 'true'],
      ['0', 'false'],
      ['yes', 'InvalidType: expected xs:boolean, got "yes"'],
      [' true ', 'true'],
    ],
    [
      ['true', 'true'],
      ['false', 'false'],
      ['1', 'expected a boolean, got a number'],
      ['"true"', 'true'],
    ],
  ],
  [
    'xs:base64Binary',
    simple('base64Binary'),
    'xs:base64Binary; binary; takes empty',
    [
      ['AAAA', '"AAAA"'],
      ['AA==', '"AA=="'],
      ['A', 'InvalidType: expected xs:base64Binary, got other text'],
      ['A A A A', '"AAAA"'],
    ],
    [
      ['"AAAA"', 'AAAA'],
      ['"A"', 'expected base64, got other text'],
      ['1', 'expected base64, got a number'],
    ],
  ],
  [
    'xs:hexBinary',
    simple('hexBinary'),
    'xs:hexBinary; binary; takes empty',
    [
      ['0aF0', '"0aF0"'],
      ['0a F0', 'InvalidType: expected xs:hexBinary, got "0a F0"'],
      ['0aF', 'InvalidType: expected xs:hexBinary, got "0aF"'],
      ['0g', 'InvalidType: expected xs:hexBinary, got "0g"'],
      ['', '""'],
      [' 0a ', '"0a"'],
    ],
    [
      ['"0aF0"', '0aF0'],
      ['"0aF"', 'expected xs:hexBinary, got other text'],
      ['"0g"', 'expected xs:hexBinary, got other text'],
      ['""', ''],
      ['1', 'expected xs:hexBinary, got a number'],
      ['null', 'nothing'],
    ],
  ],
  [
    'xs:duration',
    simple('duration'),
    'xs:duration; plain',
    [
      ['P1D', '"P1D"'],
      ['-P1Y2M3DT4H5M6.7S', '"-P1Y2M3DT4H5M6.7S"'],
      ['P', 'InvalidType: expected xs:duration, got "P"'],
      ['1D', 'InvalidType: expected xs:duration, got "1D"'],
    ],
    [
      ['"P1D"', 'P1D'],
      ['"1D"', 'expected xs:duration, got an invalid string'],
      ['" PT1,5S"', 'PT1.5S'],
      ['1', 'expected xs:duration, got a number'],
    ],
  ],
  [
    'xs:string',
    text('preserve', 'string'),
    'xs:string; string; takes empty',
    [
      [' a\t b\n ', '" a\\t b\\n "'],
      ['', '""'],
    ],
    [
      ['" a\\t"', ' a\t'],
      ['""', ''],
      ['1', '1'],
      ['true', 'true'],
      ['null', 'nothing'],
    ],
  ],
  [
    'xs:normalizedString',
    text('replace', 'normalizedString'),
    'xs:normalizedString; string; takes empty',
    [[' a\t b\r\n', '" a  b  "']],
    [['" a\\t"', ' a\t']],
  ],
  [
    'xs:token',
    text('collapse', 'token'),
    'xs:token; string; takes empty',
    [
      [' a\t b\n  c ', '"a b c"'],
      ['a  b', '"a b"'],
      ['ab', '"ab"'],
    ],
    [
      ['"a  b"', 'a  b'],
      ['1', '1'],
    ],
  ],
  [
    'xs:QName',
    simple('QName'),
    'xs:QName; plain; uses prefixes',
    [
      ['p:x', '"{urn:p}x"'],
      ['x', '"{urn:d}x"'],
      ['pq', '"{urn:d}pq"'],
      ['none:x', '"x"'],
      ['q:x', 'InvalidType: expected xs:QName with a bound prefix, got "q:x"'],
      ['p:', 'InvalidType: expected xs:QName with a bound prefix, got "p:"'],
      ['p:1', 'InvalidType: expected xs:QName with a bound prefix, got "p:1"'],
      ['p:a:b', 'InvalidType: expected xs:QName with a bound prefix, got "p:a:b"'],
      [' p:x ', '"{urn:p}x"'],
    ],
    [
      ['"{urn:p}x"', ' xmlns:q0="urn:p"|q0:x'],
      ['"x"', 'x'],
      ['"{}x"', 'x'],
      ['"{urn:p}1"', 'expected {namespace}local, got other text'],
      ['"{urn:p}a\\u0001"', 'expected {namespace}local, got other text'],
      ['"ä-1"', 'ä-1'],
      ['"{urn:<"}x"', 'expected {namespace}local, got other text'],
      ['"{http://www.w3.org/XML/1998/namespace}lang"', 'xml:lang'],
      ['"{http://www.w3.org/2000/xmlns/}x"', 'expected a namespace that can be declared, got that of xmlns'],
      ['"{urn:p"', 'expected {namespace}local, got other text'],
      ['"urn}x"', 'expected {namespace}local, got other text'],
      ['1', 'expected {namespace}local, got a number'],
      ['null', 'nothing'],
      ['"a b"', 'expected {namespace}local, got other text'],
    ],
  ],
  [
    'xs:NOTATION',
    simple('NOTATION'),
    'xs:QName; plain; uses prefixes',
    [['p:x', '"{urn:p}x"']],
    [['"{urn:p}x"', ' xmlns:q0="urn:p"|q0:x']],
  ],
  [
    'a list of integers',
    list(simple('int')),
    'a list of xs:int; plain; takes empty',
    [
      ['1 2\n3', '[1,2,3]'],
      [' 1 ', '[1]'],
      ['', '[]'],
      ['1 x', 'InvalidType: expected xs:int, got "x"'],
    ],
    [
      ['[1,2,3]', '1 2 3'],
      ['[]', ''],
      ['[1]', '1'],
      ['[null]', '[0]: expected xs:int without blanks, got another value'],
      ['["x"]', 'expected xs:int, got a string that is no number'],
      ['1', 'expected an array, got a number'],
      ['[1,2.5]', 'expected xs:int, got a fraction'],
      ['null', 'nothing'],
      ['[" 1"]', 'expected xs:int, got a string that is no number'],
    ],
  ],
  [
    'a list of strings',
    list(text('preserve', 'string')),
    'a list of xs:string; plain; takes empty',
    [['a b', '["a","b"]']],
    [
      ['["a","b"]', 'a b'],
      ['["a b"]', '[0]: expected xs:string without blanks, got another value'],
      ['[""]', '[0]: expected xs:string without blanks, got another value'],
      ['["a\\tb"]', '[0]: expected xs:string without blanks, got another value'],
      ['["<&>"]', '&lt;&amp;&gt;'],
    ],
  ],
  [
    'a list of QNames',
    list(simple('QName')),
    'a list of xs:QName; plain; takes empty; uses prefixes',
    [['p:x x', '["{urn:p}x","{urn:d}x"]']],
    [['["{urn:p}x","y","{urn:q}z"]', ' xmlns:q0="urn:p" xmlns:q1="urn:q"|q0:x y q1:z']],
  ],
  [
    'a union of integers and booleans',
    union(simple('int'), simple('boolean')),
    'xs:int, xs:boolean; string',
    [
      ['1', '"1"'],
      [' true ', '"true"'],
      ['x', 'InvalidType: expected xs:int, xs:boolean, got "x"'],
      ['a  b', 'InvalidType: expected xs:int, xs:boolean, got "a  b"'],
    ],
    [
      ['1', '1'],
      ['true', 'true'],
      ['"x"', 'x'],
      ['null', 'nothing'],
      ['"a b"', 'a b'],
    ],
  ],
  [
    'a list of decimals',
    list(simple('decimal')),
    'a list of xs:decimal; plain; takes empty',
    [
      ['1.5 2', '[1.5,2]'],
      ['1e2 3', 'decimalExponent: [100,3]'],
      ['1 x', 'InvalidType: expected xs:decimal, got "x"'],
    ],
    [],
  ],
  [
    'a union of decimals and booleans',
    union(simple('decimal'), simple('boolean')),
    'xs:decimal, xs:boolean; string',
    [
      ['1.5', '"1.5"'],
      ['1e2', 'decimalExponent: "1e2"'],
      ['x', 'InvalidType: expected xs:decimal, xs:boolean, got "x"'],
    ],
    [['"1.5"', '1.5']],
  ],
  [
    'a union with strings',
    union(simple('int'), text('preserve', 'string')),
    'xs:int, xs:string; string; takes empty',
    [[' a  b ', '" a  b "']],
    [['" a "', ' a ']],
  ],
  [
    'a union with tokens',
    union(simple('int'), text('collapse', 'token')),
    'xs:int, xs:token; string; takes empty',
    [[' a  b ', '"a b"']],
    [['"a"', 'a']],
  ],
  [
    'a union of nothing',
    union(),
    'a value; string',
    [
      ['x', '"x"'],
      [' a  b ', '"a b"'],
    ],
    [['"x"', 'x']],
  ],
  [
    'a union with QNames',
    union(simple('QName'), simple('int')),
    'xs:QName, xs:int; string; uses prefixes',
    [
      ['p:x', '"p:x"'],
      ['q:x', 'InvalidType: expected xs:QName, xs:int, got "q:x"'],
      ['5', '"5"'],
    ],
    [['"x"', 'x']],
  ],
  [
    'an enumeration of strings',
    text('preserve', 'string', 'red', 'dark blue', 'a<b', ''),
    'one of red, dark blue, a<b, ; string; takes empty',
    [
      ['red', '"red"'],
      ['dark blue', '"dark blue"'],
      ['a<b', '"a<b"'],
      ['', '""'],
      [' red', 'InvalidEnum: expected one of red, dark blue, a<b, , got " red"'],
      ['blue', 'InvalidEnum: expected one of red, dark blue, a<b, , got "blue"'],
    ],
    [
      ['"red"', 'red'],
      ['"dark blue"', 'dark blue'],
      ['"a<b"', 'a&lt;b'],
      ['""', ''],
      ['"blue"', 'blue'],
      ['"r\\u0065d"', 'red'],
      ['null', 'nothing'],
      ['1', '1'],
      ['"redd"', 'redd'],
    ],
  ],
  [
    'an enumeration of tokens',
    text('collapse', 'token', 'red'),
    'one of red; string',
    [
      [' red ', '"red"'],
      ['blue', 'InvalidEnum: expected one of red, got "blue"'],
      ['', 'InvalidEnum: expected one of red, got ""'],
    ],
    [
      ['"red"', 'red'],
      ['""', ''],
    ],
  ],
  [
    'an enumeration of integers',
    simple('int', { enumeration: ['7', '-1', 'x'] }),
    'one of 7, -1, x; plain',
    [
      ['7', '7'],
      ['07', '7'],
      ['8', 'InvalidEnum: expected one of 7, -1, x, got "8"'],
      ['x', 'InvalidType: expected xs:int, got "x"'],
    ],
    [
      ['7', '7'],
      ['-1', '-1'],
      ['8', '8'],
      ['"7"', '7'],
    ],
  ],
  [
    'an enumeration of decimals',
    simple('decimal', { enumeration: ['100', '-2.5'] }),
    'one of 100, -2.5; plain',
    [
      ['100.0', '100.0'],
      ['1e2', 'decimalExponent: 100'],
      ['-25e-1', 'decimalExponent: -2.5'],
      ['1e3', 'InvalidEnum: expected one of 100, -2.5, got "1e3"'],
    ],
    [['100', '100']],
  ],
  [
    'an enumeration of more than twelve',
    simple('int', { enumeration: '1 2 3 4 5 6 7 8 9 10 11 12 13'.split(' ') }, undefined, 'Month'),
    'a value of Month; plain',
    [['14', 'InvalidEnum: expected a value of Month, got "14"']],
    [['13', '13']],
  ],
  [
    'an enumeration of twelve',
    simple('int', { enumeration: '1 2 3 4 5 6 7 8 9 10 11 12'.split(' ') }, undefined, 'Month'),
    'one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12; plain',
    [['14', 'InvalidEnum: expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, got "14"']],
    [['12', '12']],
  ],
  [
    'an enumeration of more than twelve without a name',
    simple('int', { enumeration: '1 2 3 4 5 6 7 8 9 10 11 12 13'.split(' ') }),
    'a value of xs:int; plain',
    [['14', 'InvalidEnum: expected a value of xs:int, got "14"']],
    [],
  ],
];

for (const [title, type, is, read, written] of rows) {
  test(`A26: ${title}, in both directions`, (t) => {
    const codec = simpleOf(type);
    const { expected, text: kind, takesEmpty, usesPrefixes } = codec;
    const marks = [takesEmpty ? 'takes empty' : '', usesPrefixes ? 'uses prefixes' : ''];
    t.is([expected, kind, ...marks.filter((mark) => mark !== '')].join('; '), is);
    for (const [xml, json] of read) t.is(fromXml(codec, xml), json, xml);
    for (const [json, xml] of written) {
      t.is(scanned(codec, json), xml, json);
      if (json !== 'null') t.is(toXml(codec, json), xml, json);
    }
  });
}

test('A26: a JSON caller may write a decimal with an exponent or as a string', (t) => {
  const { request } = compiledGet(t, sequence(e('v', 'xs:decimal')));
  const write = (json: string): string =>
    request.write(Buffer.from(json), { ignores: false, ignored: [] }).xml.toString();
  t.regex(write('{"v":1e2}'), /:v>100</);
  t.regex(write('{"v":"100"}'), /:v>100</);
});

test('A26: with bigNumbers: text numbers beyond a double are strings, in both directions', (t) => {
  const asText = compileSimpleTypes({ ...defaultSettings.adopted, bigNumbers: 'text' }, defaultLimits);
  const big: BuiltIn[] = [
    'decimal',
    'integer',
    'nonPositiveInteger',
    'negativeInteger',
    'nonNegativeInteger',
    'positiveInteger',
    'long',
    'unsignedLong',
  ];
  for (const builtIn of big) {
    const digits = /^n(?:onP|e)/.test(builtIn) ? '-7' : '7';
    const codec = asText(simple(builtIn));
    t.is(fromXml(codec, digits), `"${digits}"`, builtIn);
    t.is(fromXml(codec, 'x').slice(0, 12), 'InvalidType:', builtIn);
    t.is(scanned(codec, `"${digits}"`), digits, builtIn);
  }
  for (const builtIn of ['int', 'unsignedInt', 'short', 'double'] as const)
    t.is(fromXml(asText(simple(builtIn)), '7'), '7', builtIn);
});

test('W22: a value outside an enumeration is counted in a reply, or refused', (t) => {
  const color = text('preserve', 'string', 'red', 'light "red"');
  const limited = simpleOf(color);
  t.is(scanned(limited, '"blue"'), 'blue');
  t.is(tape.passed, 1);
  for (const json of ['"red"', '"light \\"red\\""', 'null']) {
    scanned(limited, json);
    t.is(tape.passed, 0, json);
  }
  const strict = compileSimpleTypes(
    { ...defaultSettings.adopted, unknownEnumValues: 'refuse' },
    defaultLimits,
  );
  t.is(scanned(strict(color), '"red"'), 'red');
  t.is(scanned(strict(color), 'null'), 'nothing');
  for (const json of ['"blue"', '"re"', '"ed"', '"xred"', '"redd"', '7'])
    t.is(scanned(strict(color), json), 'expected one of red, light "red", got another value', json);
  t.is(scanned(strict(color), 'xred"'), 'position 0: expected a value, got byte 78');
});

test('W22: a value of an enumeration is found in any JSON spelling, and no other one', (t) => {
  const strict = compileSimpleTypes(
    { ...defaultSettings.adopted, unknownEnumValues: 'refuse' },
    defaultLimits,
  );
  const words = strict(text('collapse', 'string', 'caf\u00e9', 'text/xml', 'a&b'));
  for (const [json, written] of [
    ['"caf\\u00e9"', 'caf\u00e9'],
    ['"text\\/xml"', 'text/xml'],
    ['"a\\u0026b"', 'a&amp;b'],
  ] as const)
    t.is(scanned(words, json), written, json);
  t.regex(String(scanned(words, '"caf\\u00e8"')), /^expected one of /);
  const numbers = strict({
    ...list(simple('int')),
    facets: { ...list(simple('int')).facets, enumeration: ['1 2'] },
  });
  t.is(scanned(numbers, '[1, 2]'), '1 2');
  t.is(scanned(numbers, '[ 1,\n2 ]'), '1 2');
  t.is(scanned(numbers, '[1, 3]'), 'expected one of 1 2, got another value');
});

test('W22: a value that no member of a union accepts is counted in a reply, or refused', (t) => {
  const sizes = union(simple('int'), text('collapse', 'string', 'small', 'x/l'));
  const limited = simpleOf(sizes);
  for (const [json, count] of [
    ['"small"', 0],
    ['"x\\/l"', 0],
    ['7', 0],
    ['"7"', 0],
    ['null', 0],
    ['"tiny"', 1],
    ['7.5', 1],
  ] as const) {
    scanned(limited, json);
    t.is(tape.passed, count, json);
  }
  const settings = { ...defaultSettings.adopted, unknownEnumValues: 'refuse' } as const;
  const strict = compileSimpleTypes(settings, defaultLimits)(sizes);
  t.is(scanned(strict, '"small"'), 'small');
  t.is(scanned(strict, '"tiny"'), 'expected xs:int, one of small, x/l, got another value');
  const names = simpleOf(union(simple('QName'), simple('int')));
  scanned(names, '"p:a"');
  t.is(tape.passed, 0);
});

test('W22: a value outside both an enumeration and its base union is counted once', (t) => {
  const base = union(simple('int'), text('collapse', 'string', 'small', 'big'));
  const sizes = { ...base, facets: { ...base.facets, enumeration: ['small', '7'] } };
  for (const [json, count] of [
    ['"small"', 0],
    ['7', 0],
    ['"big"', 1],
    ['"tiny"', 1],
  ] as const) {
    scanned(simpleOf(sizes), json);
    t.is(tape.passed, count, json);
  }
  const strict = compileSimpleTypes(
    { ...defaultSettings.adopted, unknownEnumValues: 'refuse' },
    defaultLimits,
  );
  t.is(scanned(strict(sizes), '"tiny"'), 'expected one of small, 7, got another value');
});

test('A26: numbers match an enumeration by value, in any spelling', (t) => {
  const enumeration = ['1.0', '2.50', '-0', '100'];
  const strict = { ...defaultSettings.adopted, unknownEnumValues: 'refuse' } as const;
  for (const bigNumbers of ['number', 'text'] as const) {
    const rates = compileSimpleTypes(
      { ...strict, bigNumbers },
      defaultLimits,
    )(simple('decimal', { enumeration }));
    const token = (number: string): string => (bigNumbers === 'text' ? `"${number}"` : number);
    for (const written of ['1', '1.0', '1.00', '2.5', '0', '100.0']) {
      t.is(fromXml(rates, written), token(written));
      t.is(scanned(rates, token(written)), written);
    }
    t.is(fromXml(rates, '1.01'), 'InvalidEnum: expected one of 1.0, 2.50, -0, 100, got "1.01"');
    t.is(scanned(rates, token('10')), 'expected one of 1.0, 2.50, -0, 100, got another value');
  }
  const doubles = compileSimpleTypes(strict, defaultLimits)(simple('double', { enumeration: ['1E2'] }));
  t.is(fromXml(doubles, '100'), '100');
  t.regex(fromXml(doubles, '1E3'), /^InvalidEnum/);
  const pairs = list(simple('decimal'));
  const listed = simpleOf({ ...pairs, facets: { ...pairs.facets, enumeration: ['1.0 2'] } });
  t.is(fromXml(listed, '1 2.0'), '[1,2.0]');
  t.regex(fromXml(listed, '12'), /^InvalidEnum/);
  // the namespaces of an enumeration's prefixes are unknown
  const names = list(simple('QName'));
  t.is(
    fromXml(simpleOf({ ...names, facets: { ...names.facets, enumeration: ['p:a'] } }), 'p:a'),
    '["{urn:p}a"]',
  );
});

test('A26: with dates: utc moments of an enumeration are converted like others', (t) => {
  const settings = { ...defaultSettings.adopted, dates: 'utc', upstreamTimeZone: 'Europe/Berlin' } as const;
  const codec = compileSimpleTypes(
    settings,
    defaultLimits,
  )(simple('dateTime', { enumeration: ['2006-07-02T03:04:05'] }));
  t.is(fromXml(codec, '2006-07-02T03:04:05'), '"2006-07-02T01:04:05Z"');
  t.is(scanned(codec, '"2006-07-02T01:04:05Z"'), '2006-07-02T03:04:05');
  t.is(tape.passed, 0);
});

test('A26: a type is compiled once', (t) => {
  const type = list(simple('int'));
  t.is(simpleOf(type), simpleOf(type));
  t.is(simpleOf(list(union(simple('int')))).expected, 'a list of xs:int');
});

test('W21: unrepresentable characters are counted in lists and names too', (t) => {
  t.is(scanned(simpleOf(list(text('preserve', 'string'))), '["a\\u0000"]'), 'a\ufffd');
  t.is(tape.replaced, 1);
});

test('W22: a text that is not a date is counted in lists too', (t) => {
  const passing = compileSimpleTypes({ ...defaultSettings.adopted, invalidDates: 'pass' }, defaultLimits);
  const codec = passing(list(simple('date')));
  t.is(scanned(codec, '["soon","2024-02-29","never"]'), 'soon 2024-02-29 never');
  t.is(tape.passed, 2);
});
