import test from 'ava';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlError } from '../../../../mappings/xml/error.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import {
  checkRead,
  checkWrite,
  compiledGet,
  element as e,
  get,
  many,
  maybe,
  type ReadCase,
  readMessage,
  sequence,
  type WriteCase,
  writeMessage,
  written,
} from './messages.ts';

/** JSON objects of complex types: attributes, value, type. */

const declarations =
  `<xs:complexType name="Animal"><xs:sequence>${e('Name', 'xs:string', maybe)}</xs:sequence></xs:complexType>` +
  `<xs:complexType name="Dog"><xs:complexContent><xs:extension base="t:Animal"><xs:sequence>${e('Age', 'xs:int', maybe)}${e('Pup', 't:Animal', maybe)}</xs:sequence></xs:extension></xs:complexContent></xs:complexType>` +
  `<xs:complexType name="Cat"><xs:complexContent><xs:extension base="t:Animal"/></xs:complexContent></xs:complexType>` +
  `<xs:complexType name="Ghost" abstract="true"><xs:complexContent><xs:extension base="t:Animal"/></xs:complexContent></xs:complexType>` +
  '<xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency" type="xs:string" use="required"/></xs:extension></xs:simpleContent></xs:complexType>' +
  '<xs:complexType name="Note"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="by" type="xs:string"/><xs:anyAttribute/></xs:extension></xs:simpleContent></xs:complexType>' +
  '<xs:complexType name="Valued"><xs:simpleContent><xs:extension base="xs:string"><xs:attribute name="value" type="xs:int"/></xs:extension></xs:simpleContent></xs:complexType>' +
  '<xs:complexType name="Named"><xs:simpleContent><xs:extension base="xs:QName"/></xs:simpleContent></xs:complexType>' +
  '<xs:complexType name="Full"><xs:simpleContent><xs:extension base="xs:QName"><xs:attribute name="q" type="xs:QName"/><xs:attribute name="r" type="xs:QName"/><xs:attribute name="s" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>' +
  `<xs:complexType name="Mixed" mixed="true"><xs:sequence>${e('b', 'xs:string', many)}</xs:sequence><xs:attribute name="lang" type="xs:string"/></xs:complexType>` +
  '<xs:complexType name="Lists"><xs:simpleContent><xs:extension base="t:Names"><xs:attribute name="a" type="t:Names"/></xs:extension></xs:simpleContent></xs:complexType>' +
  '<xs:simpleType name="Names"><xs:list itemType="xs:QName"/></xs:simpleType>' +
  '<xs:simpleType name="Tiny"><xs:restriction base="xs:int"><xs:maxInclusive value="9"/></xs:restriction></xs:simpleType>' +
  '<xs:attribute name="id" type="xs:int"/>' +
  '<xs:simpleType name="Short"><xs:restriction base="xs:string"><xs:maxLength value="2"/></xs:restriction></xs:simpleType>';

const attribute = (name: string, type = 'xs:string', more = ''): string =>
  `<xs:attribute name="${name}" type="${type}" ${more}/>`;
const long = 'n'.repeat(65);
const soap =
  ' xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:e="http://www.w3.org/2003/05/soap-envelope"';

const readCases: readonly ReadCase[] = [
  {
    title: 'attributes of XML Schema and of envelopes are no members',
    type: sequence('', '<xs:anyAttribute/>'),
    attributes: `${soap} xsi:schemaLocation="a b" s:encodingStyle="c" e:role="d" f="1" g="2"`,
    json: '{"@attributes":{"f":"1","g":"2"}}',
  },
  {
    title: 'any attributes come behind those that are declared, before elements',
    type: sequence(e('a', 'xs:string', maybe), `${attribute('b', 'xs:int')}<xs:anyAttribute/>`),
    attributes: ' c="2" b="1" xmlns:o="urn:o" o:b="3"',
    content: '<t:a>x</t:a>',
    json: '{"b":1,"@attributes":{"c":"2","{urn:o}b":"3"},"a":"x"}',
  },
  {
    title: 'an attribute of another namespace is left out, and noted',
    type: sequence('', attribute('b', 'xs:int')),
    attributes: ' xmlns:o="urn:o" o:c="3"',
    json: '{}',
    ignored: ['c'],
  },
  {
    title: 'an unknown attribute in the namespace of its element is refused, as one in no namespace is',
    type: sequence(`<xs:element name="a" minOccurs="0" type="t:Price"/>`, attribute('bcd', 'xs:int')),
    attributes: ' t:bdc="3"',
    content: '<t:a currency="EUR" t:kurrency="USD">1</t:a>',
    json: '{"a":{"currency":"EUR","value":1}}',
    problems: [
      'UnknownElement bdc: unknown attribute, expected bcd',
      'UnknownElement a.kurrency: unknown attribute, did you mean currency?',
    ],
  },
  {
    title: 'an unknown attribute is left out where unknown elements are',
    type: sequence('', attribute('b', 'xs:int')),
    attributes: ' c="3"',
    settings: { unknownElements: 'ignore' },
    json: '{}',
    ignored: ['c'],
  },
  {
    title: 'an unknown attribute of a long name is shown by its beginning',
    type: sequence(''),
    attributes: ` ${long}="1" x="2"`,
    json: '{}',
    problems: [
      `UnknownElement ${long.slice(0, 64)}: unknown attribute, none is expected here`,
      'UnknownElement x: unknown attribute, none is expected here',
    ],
  },
  {
    title: 'attributes of one name in two namespaces are two members',
    type: sequence('', `<xs:attribute ref="t:id"/>${attribute('id')}`),
    attributes: ' id="a" t:id="1"',
    json: '{"@id":"a","id":1}',
  },
  {
    title: 'an attribute without text is refused where its type has none',
    type: sequence('', attribute('i', 'xs:int') + attribute('j', 'xs:int') + attribute('s')),
    attributes: ' i="" j=" " s=""',
    json: '{"s":""}',
    problems: ['NotEmpty i: expected xs:int, got nothing', 'NotEmpty j: expected xs:int, got nothing'],
  },
  {
    title: 'an attribute that is none of its type is refused',
    type: sequence(e('a', 't:Price', many), attribute('i', 'xs:int')),
    attributes: ' i="x"',
    content: '<t:a currency="EUR">1</t:a><t:a currency="EUR">y</t:a><t:a currency="EUR"/>',
    json: '{"a":[{"currency":"EUR","value":1}]}',
    problems: [
      'InvalidType i: expected xs:int, got "x"',
      'InvalidType a[1]: expected xs:decimal, got "y"',
      'NotEmpty a[2]: expected xs:decimal, got an empty element; leave it out where no value is meant',
    ],
  },
  {
    title: 'required attributes that are not there are missing, each at its place',
    type: sequence(
      e('a', 't:Price', many),
      attribute('i', 'xs:int', 'use="required"') +
        attribute('j') +
        attribute('k', 'xs:int', 'use="required"'),
    ),
    attributes: ' j="1" k="2"',
    content: '<t:a currency="EUR">1</t:a><t:a>2</t:a>',
    json: '{"j":"1","k":2,"a":[{"currency":"EUR","value":1},{"value":2}]}',
    missing: ['i', 'a[1].currency'],
  },
  {
    title: 'under strict an attribute is held to its facets',
    type: sequence('', attribute('s', 't:Short') + attribute('u', 't:Short')),
    attributes: ' s="abc" u="ab"',
    settings: { validate: 'strict' },
    json: '{"s":"abc","u":"ab"}',
    problems: ['OutOfRange s: expected at most 2 characters, got 3'],
  },
  {
    title: 'under strict what is none of its type is told as that alone',
    type: sequence(e('p', 't:Tiny', many), attribute('i', 't:Tiny')),
    attributes: ' i="x"',
    content: '<t:p>y</t:p><t:p>10</t:p><t:p>9</t:p>',
    settings: { validate: 'strict' },
    json: '{"p":[10,9]}',
    problems: [
      'InvalidType i: expected xs:int, got "x"',
      'InvalidType p[0]: expected xs:int, got "y"',
      'OutOfRange p[1]: expected at most 9, got 10',
    ],
  },
  {
    title: 'a stated type of a prefix that is not bound is none',
    type: sequence('<xs:element name="v"/>'),
    content: '<t:v xsi:type="q:anyType">x</t:v>',
    json: '{}',
    problems: [
      'InvalidType v: expected xsi:type with a bound prefix, got "q:anyType" with an unbound prefix',
    ],
  },
  {
    title: 'prefixes of an attribute and of a value are those of their element',
    type: sequence(e('f', 't:Full', many)),
    content:
      '<t:f xmlns:p="urn:p" q="p:x" r="t:y" s="p:z">p:v</t:f><t:f xmlns="urn:d" q="w">w</t:f><t:f q="p:x">t:v</t:f>',
    json: '{"f":[{"q":"{urn:p}x","r":"{urn:t}y","s":"p:z","value":"{urn:p}v"},{"q":"{urn:d}w","value":"{urn:d}w"},{"value":"{urn:t}v"}]}',
    problems: ['InvalidType f[2].q: expected xs:QName with a bound prefix, got "p:x"'],
  },
  {
    title: 'a value beside an attribute of that name is @value',
    type: sequence(e('v', 't:Valued')),
    content: '<t:v value="1">x</t:v>',
    json: '{"v":{"value":1,"@value":"x"}}',
  },
  {
    title: 'mixed content with attributes is a value beside them',
    type: sequence(e('m', 't:Mixed', many)),
    content: '<t:m lang="de">a <t:b>c</t:b></t:m><t:m/>',
    json: '{"m":[{"lang":"de","value":"a <t:b xmlns:t=\\"urn:t\\">c</t:b>"},{"value":""}]}',
  },
  {
    title: 'elements in the place of text are refused',
    type: sequence(e('i', 'xs:int') + e('p', 't:Price')),
    content: '<t:i><x/></t:i><t:p currency="EUR"><x/></t:p>',
    json: '{}',
    problems: [
      'InvalidType i: expected xs:int, got elements',
      'InvalidType p: expected xs:decimal, got elements',
    ],
  },
  {
    title: 'nil beside attributes keeps them, nil with content is refused',
    type: sequence(e('p', 't:Price', `${many} nillable="true"`) + e('d', 't:Animal', 'nillable="true"')),
    content:
      '<t:p xsi:nil="1" currency="EUR"/><t:p xsi:nil="true" currency="EUR">1</t:p><t:p xsi:nil="1"><x/></t:p><t:d xsi:nil="1"/>',
    json: '{"p":[{"@nil":true,"currency":"EUR"},{"@nil":true,"currency":"EUR"},null],"d":null}',
    problems: [
      'InvalidType p[1]: expected no content in an element with xsi:nil',
      'InvalidType p[2]: expected no content in an element with xsi:nil',
    ],
    missing: ['p[2].currency'],
  },
  {
    title: 'a stated type is of the namespace of its prefix, or of the default one',
    type: sequence(e('p', 't:Animal', many)),
    content:
      '<t:p xsi:type=" t:Dog "/><t:p xmlns="urn:t" xsi:type="Cat"/><t:p xmlns:Ca="urn:t" xsi:type="Cat"/><t:p xsi:type="u:Cat"/><t:p xmlns:o="urn:o" xsi:type="o:Cat"/><t:p xsi:type="t:Animal"/><t:p xsi:type="t:Ghost"/>',
    json: '{"p":[{"@type":"Dog"},{"@type":"Cat"},{}]}',
    problems: [
      'InvalidType p[2]: expected Animal in namespace "urn:t" or a type derived from it, got "Cat" in no namespace',
      'InvalidType p[3]: expected Animal in namespace "urn:t" or a type derived from it, got "u:Cat" with an unbound prefix',
      'InvalidType p[4]: expected Animal in namespace "urn:t" or a type derived from it, got "o:Cat" in namespace "urn:o"',
      'InvalidType p[6]: expected xsi:type with a type derived from Animal, got none',
    ],
  },
  {
    title: 'with types: always the declared type says its name too',
    type: sequence(e('p', 't:Animal', many) + e('n', 't:Price')),
    content: '<t:p><t:Name>x</t:Name></t:p><t:p xsi:type="t:Cat"/><t:n currency="EUR">1</t:n>',
    settings: { types: 'always' },
    json: '{"p":[{"@type":"Animal","Name":"x"},{"@type":"Cat"}],"n":{"@type":"Price","currency":"EUR","value":1}}',
  },
  {
    title: 'surrogates written as two references are joined in strings',
    type: sequence(e('s') + e('n', 't:Note')),
    content: '<t:s>&#xD83D;&#xDE00;</t:s><t:n by="x">&#xD83D;&#xDE00;</t:n>',
    json: '{"s":"\u{1f600}","n":{"by":"x","value":"\u{1f600}"}}',
  },
];

for (const one of readCases)
  test(`in a request ${one.title}`, (t) => {
    checkRead(t, one, declarations);
  });

test('in a request numbers may not contain surrogates written as two references', (t) => {
  const { request } = compiledGet(t, sequence(e('i', 'xs:int')));
  t.throws(() => readMessage(request, get('<t:i>&#xD83D;&#xDE00;</t:i>')), { instanceOf: XmlError });
});

test('in a request the length of text is limited, except for base64', (t) => {
  const limits = { ...defaultLimits, xmlText: 4 };
  const type = sequence(e('s', 'xs:string', maybe) + e('b', 'xs:base64Binary', maybe));
  const { request } = compiledGet(t, type, '', {}, limits);
  t.is(readMessage(request, get('<t:s>abcd</t:s>'), limits).json, '{"s":"abcd"}');
  t.throws(() => readMessage(request, get('<t:s>abcde</t:s>'), limits), { instanceOf: XmlError });
  t.is(readMessage(request, get('<t:b>QUJDREVG</t:b>'), limits).json, '{"b":"QUJDREVG"}');
});

const own = `${attribute('i', 'xs:int')}${attribute('s')}${attribute('q', 'xs:QName')}`;

const writeCases: readonly WriteCase[] = [
  {
    title: 'attributes are in the order of the schema, blanks and quotes escaped',
    type: sequence('', own),
    json: '{"s":"\\"1\\" <&> \\t\\n","i":1}',
    xml: ' i="1" s="&quot;1&quot; &lt;&amp;&gt; &#9;&#10;"/>',
  },
  {
    title: 'an attribute without text is empty, one that is null is not there',
    type: sequence('', own),
    json: '{"s":"","i":null,"q":null}',
    xml: ' s=""/>',
  },
  {
    title: 'prefixes of attributes and values are declared where they stand',
    type: sequence(e('f', 't:Full', many) + e('n', 't:Named', many)),
    json: '{"f":[{"q":"{urn:q}a","r":"{urn:r}b","s":null,"value":"{urn:v}c"},{"r":"{urn:r}b"},{"q":"{urn:q}a"},{"value":"{urn:v}c"},{"q":"{urn:q}a","value":null},{"q":"{urn:q}a","r":null,"s":"x"},{"q":"a","value":"b"}],"n":[{"value":"{urn:v}c"},{"value":"c"},{"value":null},{}]}',
    xml:
      '><n0:f xmlns:q0="urn:q" q="q0:a" xmlns:q1-0="urn:r" r="q1-0:b" xmlns:q2-0="urn:v">q2-0:c</n0:f>' +
      '<n0:f xmlns:q1-0="urn:r" r="q1-0:b"/><n0:f xmlns:q0="urn:q" q="q0:a"/><n0:f xmlns:q2-0="urn:v">q2-0:c</n0:f><n0:f xmlns:q0="urn:q" q="q0:a"/><n0:f xmlns:q0="urn:q" q="q0:a" s="x"/><n0:f q="a">b</n0:f>' +
      '<n0:n xmlns:q0="urn:v">q0:c</n0:n><n0:n>c</n0:n><n0:n/><n0:n/></n0:Get>',
    missing: 6,
  },
  {
    title: 'a value alone declares its prefix',
    type: sequence(e('n', 't:Named')),
    json: '{"n":{"value":"{urn:v}c"}}',
    xml: '><n0:n xmlns:q0="urn:v">q0:c</n0:n></n0:Get>',
  },
  {
    title: 'the second of two attributes with prefixes has its own where it is alone too',
    type: sequence(e('f', 't:Full')),
    json: '{"f":{"r":"{urn:r}b"}}',
    xml: '><n0:f xmlns:q1-0="urn:r" r="q1-0:b"/></n0:Get>',
    missing: 1,
  },
  {
    title: 'members called value and @attributes are none of a type without text or any attributes',
    type: sequence(`${e('a', 't:Animal')}<xs:element name="v"/>`, attribute('i', 'xs:int')),
    json: '{"a":{"value":"x","Name":"y"},"value":"z","@attributes":{"b":"1"},"v":{"@type":"xs:int","value":1,"@attributes":{"b":"2"}}}',
    xml: '><n0:a><n0:Name>y</n0:Name></n0:a><n0:v i:type="xsd:int">1</n0:v></n0:Get>',
    dropped: 4,
  },
  {
    title: 'several texts with prefixes in one start tag have prefixes of their own, lists too',
    type: sequence(
      e('v', 't:Lists'),
      attribute('i', 'xs:QName') + attribute('l', 't:Names') + attribute('m', 't:Names') + attribute('n'),
    ),
    json: '{"i":"{urn:a}x","l":["{urn:b= xmlns:q0=}q1","q1","{urn:c}y","{http://www.w3.org/XML/1998/namespace}q0"],"m":[],"n":"q0:x","v":{"a":["{urn:d}x"],"value":["{urn:e}y","{urn:f}z"]}}',
    xml:
      ' xmlns:q0="urn:a" i="q0:x" xmlns:q1-0="urn:b= xmlns:q0=" xmlns:q1-1="urn:c" l="q1-0:q1 q1 q1-1:y xml:q0" m="" n="q0:x">' +
      '<n0:v xmlns:q0="urn:d" a="q0:x" xmlns:q1-0="urn:e" xmlns:q1-1="urn:f">q1-0:y q1-1:z</n0:v></n0:Get>',
  },
  {
    title: 'a value that is empty, null or not there leaves its tags alone',
    type: sequence(e('n', 't:Note', many)),
    json: '{"n":[{"value":""},{"value":null},{},{"by":""},{"value":"x"},{"by":"y","value":"<"},{"by":"y","value":"\\u0041"}]}',
    xml: '><n0:n/><n0:n/><n0:n/><n0:n by=""/><n0:n>x</n0:n><n0:n by="y">&lt;</n0:n><n0:n by="y">A</n0:n></n0:Get>',
  },
  {
    title: 'any attributes are written with prefixes of their own',
    type: sequence(e('n', 't:Note', many), '<xs:anyAttribute/>'),
    json: '{"@attributes":{"a":"1","{urn:\\"o}b":"\\"2\\t","{http://www.w3.org/XML/1998/namespace}lang":"de","{urn:p}c":"","{}d":"4"},"n":[{"@attributes":{},"value":"x"},{"@attributes":null},{"by":"y","@attributes":{"z":"<\\n"}}]}',
    xml: ' a="1" xmlns:a1="urn:&quot;o" a1:b="&quot;2&#9;" xml:lang="de" xmlns:a2="urn:p" a2:c="" d="4"><n0:n>x</n0:n><n0:n/><n0:n by="y" z="&lt;&#10;"/></n0:Get>',
  },
  {
    title: 'an element is nil with its attributes, and without any; what else it has is dropped',
    type: sequence(
      e('p', 't:Price', `${many} nillable="true"`) + e('d', 't:Animal', `${many} nillable="true"`),
    ),
    json: '{"p":[{"@nil":true,"currency":"EUR"},{"currency":"EUR","@nil":true,"value":1},{"@nil":true},{"@nil":false,"currency":"EUR","value":1},null],"d":[{"@nil":true},{"@nil":true,"Name":"x"},{"Name":"y"},{}]}',
    xml: '><n0:p currency="EUR" i:nil="true"/><n0:p currency="EUR" i:nil="true"/><n0:p i:nil="true"/><n0:p currency="EUR">1</n0:p><n0:p i:nil="true"/><n0:d i:nil="true"/><n0:d i:nil="true"/><n0:d><n0:Name>y</n0:Name></n0:d><n0:d/></n0:Get>',
    missing: 1,
    dropped: 3,
  },
  {
    title: 'attributes of any name stay on a nil element',
    type: sequence(e('n', 't:Note', `${many} nillable="true"`)),
    json: '{"n":[{"@nil":true,"by":"y","@attributes":{"z":"1"}},{"@nil":true,"@attributes":null,"value":null},{"@nil":true,"value":"x"}]}',
    xml: '><n0:n by="y" z="1" i:nil="true"/><n0:n i:nil="true"/><n0:n i:nil="true"/></n0:Get>',
    dropped: 1,
  },
  {
    title: 'a value that its type requires is missing, beside what else is',
    type: sequence(
      e('p', 't:Price', many),
      attribute('k', 'xs:int', 'use="required"') +
        attribute('f', 'xs:string', 'use="required" fixed="&quot;1"'),
    ),
    json: '{"p":[{},{"currency":null,"value":null},{"currency":"EUR"},{"value":1},{"currency":"EUR","value":2}]}',
    xml: ' f="&quot;1"><n0:p/><n0:p/><n0:p currency="EUR"/><n0:p>1</n0:p><n0:p currency="EUR">2</n0:p></n0:Get>',
    missing: 7,
  },
  {
    title: 'an attribute that is required is missing, and one behind it that isn’t is not',
    type: sequence(
      '',
      attribute('i', 'xs:int') + attribute('k', 'xs:int', 'use="required"') + attribute('l'),
    ),
    json: '{"i":1}',
    xml: ' i="1"/>',
    missing: 1,
  },
  {
    title: 'an attribute with a fixed value is written where it is required alone',
    type: sequence(
      '',
      attribute('a', 'xs:string', 'fixed="1"') +
        attribute('b', 'xs:string', 'default="2"') +
        attribute('c', 'xs:string', 'use="required" fixed="3"') +
        attribute('d', 'xs:string', 'use="required" fixed="4"'),
    ),
    json: '{"c":null,"d":"5"}',
    xml: ' c="3" d="5"/>',
  },
  {
    title: '@type that says nothing is passed, other members that are unknown are dropped',
    type: sequence(e('p', 't:Price', maybe) + e('s', 'xs:string', maybe)),
    json: '{"@type":"Other","@headers":1,"@fault":[2],"@message":{"a":3},"other":4,"p":{"@type":"Price","@headers":1,"@fault":2,"@message":3,"currency":"EUR","value":1},"@nil":"x","s":"y"}',
    xml: '><n0:p currency="EUR">1</n0:p><n0:s>y</n0:s></n0:Get>',
    dropped: 8,
  },
  {
    title: 'items, rounds and elements of a wildcard beyond maxOccurs are written and counted',
    type: sequence(
      e('v', 'xs:int', 'maxOccurs="2"') +
        `<xs:choice maxOccurs="2">${e('a')}${e('b')}</xs:choice>` +
        '<xs:any namespace="urn:o" maxOccurs="2"/>',
    ),
    json: '{"v":[1,2,3,4],"@items":[{"a":"1"},{"b":"2"},{"a":"3"}],"@any":["<x/>","<y/>","<z/>"]}',
    xml: '><n0:v>1</n0:v><n0:v>2</n0:v><n0:v>3</n0:v><n0:v>4</n0:v><n0:a>1</n0:a><n0:b>2</n0:b><n0:a>3</n0:a><x/><y/><z/></n0:Get>',
    passed: 4,
  },
  {
    title: 'as many items as maxOccurs and a group around it take together are all right',
    type: sequence(`<xs:sequence maxOccurs="2">${e('v', 'xs:int', 'maxOccurs="2"')}</xs:sequence>`),
    json: '{"v":[1,2,3,4]}',
    xml: '><n0:v>1</n0:v><n0:v>2</n0:v><n0:v>3</n0:v><n0:v>4</n0:v></n0:Get>',
  },
  {
    title: 'members are known by names that are escaped too, in any order',
    type: sequence(e('a') + e('b') + e('c') + e('d\u00e9', 'xs:string', maybe), attribute('i', 'xs:int')),
    json: '{"c":"3","\\u0061":"1","d\u00e9":"4","i":5,"b":"2"}',
    xml: ' i="5"><n0:a>1</n0:a><n0:b>2</n0:b><n0:c>3</n0:c><n0:d\u00e9>4</n0:d\u00e9></n0:Get>',
  },
  {
    title: 'the type is said that the object names, at its beginning, within and behind',
    type: sequence(e('p', 't:Animal', many)),
    json: '{"p":[{"@type":"Dog","Age":1},{"Name":"x","Age":2,"@type":"Dog"},{"@type":"Animal","Name":"y"},{"Age":3},{"@type":7,"Name":"z"},{"@type":"Dog","Pup":{"Name":"v","@type":"Cat"},"Age":4},{"@type":"Cat","@type":"Cat"}]}',
    xml: '><n0:p i:type="n0:Dog"><n0:Age>1</n0:Age></n0:p><n0:p i:type="n0:Dog"><n0:Name>x</n0:Name><n0:Age>2</n0:Age></n0:p><n0:p><n0:Name>y</n0:Name></n0:p><n0:p/><n0:p><n0:Name>z</n0:Name></n0:p><n0:p i:type="n0:Dog"><n0:Age>4</n0:Age><n0:Pup i:type="n0:Cat"><n0:Name>v</n0:Name></n0:Pup></n0:p><n0:p i:type="n0:Cat"/></n0:Get>',
    dropped: 1,
  },
];

for (const one of writeCases)
  test(`in a reply ${one.title}`, (t) => {
    checkWrite(t, one, declarations);
  });

for (const [title, type, json, message] of [
  [
    'a member twice',
    sequence(e('a') + e('b'), attribute('i')),
    '{"a":"1","b":"2","a":"3"}',
    'a: expected the member once, got it again',
  ],
  [
    'an attribute twice',
    sequence(e('p', 't:Price')),
    '{"p":{"currency":"1","currency":"2"}}',
    'p.currency: expected the member once, got it again',
  ],
  [
    'a value in an object’s place',
    sequence(e('p', 't:Price')),
    '{"p":1}',
    'p: expected an object, got a number',
  ],
  [
    'a member of another type',
    sequence(e('p', 't:Price', many)),
    '{"p":[{"value":1},{"value":"x"}]}',
    'p[1].value: expected xs:decimal, got a string that is no number',
  ],
  [
    'an abstract type that is named',
    sequence(e('p', 't:Animal')),
    '{"p":{"@type":"Ghost"}}',
    'p: expected "@type" with a type that isn\'t abstract, got one that is',
  ],
  [
    'an unknown type that is named',
    sequence(e('p', 't:Animal')),
    '{"p":{"Name":"x","@type":"Bird"}}',
    'p.@type: expected Animal or a type derived from it, got another',
  ],
  [
    'any attributes that are a list',
    sequence('', '<xs:anyAttribute/>'),
    '{"@attributes":[]}',
    '@attributes: expected an object, got an array',
  ],
  [
    'any attribute that is a number',
    sequence('', '<xs:anyAttribute/>'),
    '{"@attributes":{"a":"1","b":2}}',
    '@attributes.b: expected a string, got a number',
  ],
] as const) {
  test(`in a reply ${title} is a mismatch`, (t) => {
    const { request } = compiledGet(t, type, declarations);
    t.throws(() => writeMessage(request, json), { name: 'MismatchError', message });
  });
}

test('in a reply names of open attributes are valid XML names, each once', (t) => {
  const { request } = compiledGet(t, sequence('', '<xs:anyAttribute/>'));
  const of = (members: string): string => `{"@attributes":{${members}}}`;
  const message = '@attributes: expected names of attributes, each once, got another';
  for (const name of ['', ' ', 'a b', '1a', '-a', '.a', 'a:b', 'a=', 'a/', 'a}', '{a', 'a"', "a'", 'a<', 'a&', 'a>', 'xmlns', '{urn:o}', '{urn:o}xmlns', '{http://www.w3.org/2000/xmlns/}a', '{urn:o}a{', 'a{urn:o}b']) // biome-ignore format: names
    t.throws(() => writeMessage(request, of(`${JSON.stringify(name)}:"1"`)), { message }, name);
  for (const members of ['"a":"1","a":"2"', '"a":"1","{}a":"2"', '"{urn:o}a":"1","{urn:o}\\u0061":"2"'])
    t.throws(() => writeMessage(request, of(members)), { message }, members);
  t.is(written(request, of('"a":"1","{urn:o}a":"2"')), '<n0:Get a="1" xmlns:a1="urn:o" a1:a="2"/>');
  for (const name of ['a', 'a1', '_', 'a-b.c', '\u00e9'])
    t.is(written(request, of(`"${name}":"1"`)), `<n0:Get ${name}="1"/>`);
  t.is(written(request, of('"{a}b}c":"1"')), '<n0:Get xmlns:a1="a}b" a1:c="1"/>');
});

test('in a reply an open attribute is neither one of the type nor xsi:type or xsi:nil', (t) => {
  const { request } = compiledGet(
    t,
    sequence('', '<xs:attribute name="id" type="xs:int"/><xs:anyAttribute/>'),
  );
  const message = '@attributes: expected names of attributes, each once, got another';
  for (const name of ['id', '{}id', '{http://www.w3.org/2001/XMLSchema-instance}nil'])
    t.throws(() => writeMessage(request, `{"id":1,"@attributes":{"${name}":"2"}}`), { message }, name);
  t.is(
    written(request, '{"id":1,"@attributes":{"{urn:o}id":"2"}}'),
    '<n0:Get id="1" xmlns:a1="urn:o" a1:id="2"/>',
  );
});

test('in a reply a name that is not a member’s is reported as such', (t) => {
  const { request } = compiledGet(t, sequence(e('a', 't:Animal', maybe)), declarations);
  for (const json of ['{a:{}}', '{"a":{"Name":"x",Name:1}}', '{"a":{},1:2}'])
    t.throws(() => writeMessage(request, json), { name: 'JsonError', message: /a member name/ }, json);
});

test('in a reply characters of an attribute that XML cannot represent are counted', (t) => {
  const { request } = compiledGet(t, sequence('', `${attribute('s')}<xs:anyAttribute/>`));
  const { xml, replaced } = request.write(
    Buffer.from('{"s":"\\u0001a","@attributes":{"b":"\\u0002\\u0003"}}'),
  );
  t.regex(xml.toString(), / s="\ufffda" b="\ufffd\ufffd"\/>$/);
  t.is(replaced, 3);
});

test('in a reply late types in nested objects are refused when they take too long', (t) => {
  const { request } = compiledGet(t, sequence(e('p', 't:Animal')), declarations);
  const nested = (depth: number): string =>
    Array.from({ length: depth }).reduce<string>((inner) => `{"Pup":${inner},"@type":"Dog"}`, '{"Name":"x"}');
  const two = written(request, `{"p":${nested(2)}}`);
  t.is(
    two,
    '<n0:Get><n0:p i:type="n0:Dog"><n0:Pup i:type="n0:Dog"><n0:Pup><n0:Name>x</n0:Name></n0:Pup></n0:Pup></n0:p></n0:Get>',
  );
  t.throws(() => writeMessage(request, `{"p":${nested(20)}}`), {
    message: /^p\.Pup.*: expected "@type" as the first member, got it later$/,
  });
});

test('in a reply nested objects of types with subtypes are read at any depth', (t) => {
  const nodes =
    `<xs:complexType name="Node"><xs:sequence>${e('n', 't:Node', maybe)}</xs:sequence></xs:complexType>` +
    '<xs:complexType name="Leaf"><xs:complexContent><xs:extension base="t:Node"/></xs:complexContent></xs:complexType>';
  const { request } = compiledGet(t, sequence(e('n', 't:Node')), nodes);
  const json = `${'{"n":'.repeat(30)}{"@type":"Leaf"}${'}'.repeat(30)}`;
  t.is(
    written(request, json),
    `<n0:Get>${'<n0:n>'.repeat(29)}<n0:n i:type="n0:Leaf"/>${'</n0:n>'.repeat(29)}</n0:Get>`,
  );
});

test('in a reply values and tags of any length follow one another at every buffer boundary', (t) => {
  const name = 'e'.repeat(150);
  const [first, second] = ['a'.repeat(100), 'b'.repeat(100)];
  const [value, filler] = ['v'.repeat(120), 'f'.repeat(2000)];
  const more =
    `<xs:complexType name="Wide"><xs:simpleContent><xs:extension base="xs:string">${attribute(first)}${attribute(second)}</xs:extension></xs:simpleContent></xs:complexType>` +
    `<xs:complexType name="Item"><xs:sequence>${e(name, 't:Wide')}${e('f', 'xs:string', `fixed="${filler}"`)}</xs:sequence></xs:complexType>`;
  const { request } = compiledGet(t, sequence(e('pad') + e('p', 't:Item', many)), more);
  const item = `{"${name}":{"${first}":"${value}","${second}":"<","value":"${value}"}}`;
  const itemXml = `<n0:p><n0:${name} ${first}="${value}" ${second}="&lt;">${value}</n0:${name}><n0:f>${filler}</n0:f></n0:p>`;
  const items = Array.from({ length: 30 }, () => item).join(',');
  const expected = itemXml.repeat(30);
  for (let pad = 1; pad <= itemXml.length; pad++) {
    const padding = 'p'.repeat(pad);
    const text = written(request, `{"pad":"${padding}","p":[${items}]}`);
    if (text !== `<n0:Get><n0:pad>${padding}</n0:pad>${expected}</n0:Get>`) t.fail(`${pad}`);
  }
  t.pass();
});

test('in a reply a long value of an object is between its tags like any other', (t) => {
  const { request } = compiledGet(t, sequence(e('n', 't:Note', many)), declarations);
  for (const length of [128, 129, 65_535, 65_536, 65_537]) {
    const value = 'x'.repeat(length);
    t.true(
      written(request, `{"n":[{"value":"${value}"},{"by":"y","value":"${value}"}]}`) ===
        `<n0:Get><n0:n>${value}</n0:n><n0:n by="y">${value}</n0:n></n0:Get>`,
      `${length}`,
    );
  }
});

test('in a reply many objects are separate at every buffer boundary', (t) => {
  for (let pad = 0; pad < 16; pad++) {
    // a grown buffer stays large, so the codec is compiled again
    const { request } = compiledGet(
      t,
      sequence(e('i', 'xs:int', many) + e('d', 't:Dog', many)),
      declarations,
    );
    const numbers = Array.from({ length: pad }, (_, index) => index);
    const dogs = '{"Name":"x","Age":1,"Pup":{}},{},'.repeat(500);
    const xml = `${numbers.map((number) => `<n0:i>${number}</n0:i>`).join('')}${'<n0:d><n0:Name>x</n0:Name><n0:Age>1</n0:Age><n0:Pup/></n0:d><n0:d/>'.repeat(500)}<n0:d/>`;
    t.true(written(request, `{"i":[${numbers}],"d":[${dogs}{}]}`) === `<n0:Get>${xml}</n0:Get>`, `${pad}`);
  }
});

test('in a reply earlier content is not written as open attributes', (t) => {
  const { request } = compiledGet(t, sequence('', `${attribute('q', 'xs:QName')}<xs:anyAttribute/>`));
  for (let time = 0; time < 2; time++) {
    t.is(
      written(request, '{"q":"{urn:q}a","@attributes":{"a":"1"}}'),
      '<n0:Get xmlns:q0="urn:q" q="q0:a" a="1"/>',
    );
    t.is(written(request, '{"q":null,"@attributes":{}}'), '<n0:Get/>');
    t.is(written(request, '{"@attributes":null,"q":"b"}'), '<n0:Get q="b"/>');
    t.is(written(request, '{"q":"b"}'), '<n0:Get q="b"/>');
  }
});

const attributed = sequence(e('b', 't:Attributed', many), '<xs:attribute name="at" type="xs:int"/>');
const attributedTypes =
  '<xs:complexType name="Attributed"><xs:sequence/><xs:attribute name="at" type="xs:int" use="required"/><xs:attribute ref="t:q"/><xs:attribute ref="xml:lang"/></xs:complexType><xs:attribute name="q" type="xs:string"/>';

for (const [content, json, problem] of [
  ['t:at="1"', { at: 1 }, undefined],
  ['o:at="1"', { at: 1 }, undefined],
  ['at="1" q="x"', { at: 1, q: 'x' }, undefined],
  ['at="1" o:q="x"', { at: 1, q: 'x' }, undefined],
  ['at="1" lang="de"', { at: 1, lang: 'de' }, undefined],
  ['at="1" t:at="2"', { at: 1 }, 'expected the attribute in no namespace, got it in namespace "urn:t"'],
  ['t:at="1" o:at="2"', {}, 'expected the attribute in no namespace, got it in namespace "urn:t"'],
  ['at="1" u:at="x" u:Id="y"', { at: 1 }, undefined],
  ['at="1" o:other="x"', { at: 1 }, undefined],
] as const)
  test(`A12: reads the attributes ${content} by their local names if they are unambiguous`, (t) => {
    const { request } = compiledGet(t, attributed, attributedTypes);
    const prefixes =
      'xmlns:o="urn:o" xmlns:u="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"';
    const xml = new XmlReader(get(`<t:b ${prefixes} ${content}/>`), defaultLimits);
    xml.readRoot();
    const reading = startReading(1);
    t.deepEqual(JSON.parse(request.read(xml, reading)), { b: [json] });
    t.is(reading.problems.map(problemText)[0], problem && `b[0].at: ${problem}`);
    t.is(reading.problems[0]?.code, problem && 'UnknownElement');
    const isPlain = problem !== undefined || /u:at|other/.test(content);
    t.deepEqual([...(reading.deviations ?? [])], isPlain ? [] : ['attributeNamespace']);
  });

test('A16: a choice within a nested sequence starts a new item of a repeated sequence', (t) => {
  const x = e('x', 'xs:int', 'minOccurs="0"');
  const choice = `<xs:choice>${e('b', 'xs:int')}${e('c', 'xs:int')}</xs:choice>`;
  const nested = `<xs:sequence>${choice}${x}</xs:sequence>`;
  const { request } = compiledGet(
    t,
    `<xs:complexType><xs:sequence maxOccurs="unbounded">${nested}${e('d', 'xs:int')}${x}</xs:sequence></xs:complexType>`,
  );
  const { json, problems } = readMessage(request, get('<t:b>1</t:b><t:c>2</t:c>'));
  t.deepEqual(problems, []);
  t.is(json, '{"@items":[{"b":1},{"c":2}]}');
});

test('A16: an unknown member of a repeated group’s item is dropped from a reply', (t) => {
  const choice = `<xs:choice maxOccurs="unbounded">${e('b', 'xs:int')}${e('c', 'xs:int')}</xs:choice>`;
  const { request } = compiledGet(t, `<xs:complexType>${choice}</xs:complexType>`);
  const json = '{"@items":[{"b":1,"x":2},{"x":3}]}';
  t.is(written(request, json), '<n0:Get><n0:b>1</n0:b></n0:Get>');
  t.is(request.write(Buffer.from(json)).dropped, 2);
});

test('A15: a member of two branches is written if its branch has an empty choice too', (t) => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => e(name, 'xs:int'));
  const branches = `<xs:sequence><xs:choice>${a}${b}</xs:choice>${c}</xs:sequence><xs:sequence>${c}${d}</xs:sequence>`;
  const { request } = compiledGet(t, `<xs:complexType><xs:choice>${branches}</xs:choice></xs:complexType>`);
  for (const [json, xml] of [
    ['{"c":1}', '<n0:c>1</n0:c>'],
    ['{"d":2,"c":1}', '<n0:c>1</n0:c><n0:d>2</n0:d>'],
    ['{"c":1,"a":2}', '<n0:a>2</n0:a><n0:c>1</n0:c>'],
  ] as const)
    t.is(written(request, json), `<n0:Get>${xml}</n0:Get>`);
});

test('A12: with anyAttribute a qualified attribute stays one of the open attributes', (t) => {
  const type = sequence('', '<xs:attribute name="at" type="xs:int"/><xs:anyAttribute/>');
  const { request } = compiledGet(t, type);
  const { json, problems } = readMessage(request, get('', ' t:at="1"'));
  t.deepEqual(problems, []);
  t.is(json, '{"@attributes":{"{urn:t}at":"1"}}');
});
