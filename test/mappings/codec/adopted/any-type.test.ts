import test from 'ava';
import { MismatchError, problemText } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { compiledGet, element, get, many, readMessage, sequence, writeMessage } from './messages.ts';

const declarations =
  '<xs:complexType name="Animal"><xs:sequence><xs:element name="Name" type="xs:string" minOccurs="0"/></xs:sequence></xs:complexType>' +
  '<xs:complexType name="Ghost" abstract="true"/>' +
  '<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/></xs:restriction></xs:simpleType>';
const type = sequence(`<xs:element name="v" ${many} nillable="true"/>`);
const nines = '9'.repeat(18);

test('A23: a value of any type in a reply has its type, or is written as its JSON kind', (t) => {
  const { request } = compiledGet(t, type, declarations);
  for (const [json, xml] of [
    ['"a"', '<n0:v i:type="xsd:string">a</n0:v>'],
    ['""', '<n0:v i:type="xsd:string"/>'],
    ['true', '<n0:v i:type="xsd:boolean">true</n0:v>'],
    ['false', '<n0:v i:type="xsd:boolean">false</n0:v>'],
    ['7', '<n0:v i:type="xsd:long">7</n0:v>'],
    ['-7', '<n0:v i:type="xsd:long">-7</n0:v>'],
    [nines, `<n0:v i:type="xsd:long">${nines}</n0:v>`],
    [`9${nines}`, `<n0:v i:type="xsd:decimal">9${nines}</n0:v>`],
    [`-${nines}`, `<n0:v i:type="xsd:decimal">-${nines}</n0:v>`],
    ['1.5', '<n0:v i:type="xsd:decimal">1.5</n0:v>'],
    ['1e3', '<n0:v i:type="xsd:double">1e3</n0:v>'],
    ['1E3', '<n0:v i:type="xsd:double">1E3</n0:v>'],
    ['1.5E-2', '<n0:v i:type="xsd:double">1.5E-2</n0:v>'],
    ['[]', '<n0:v></n0:v>'],
    [
      '[1,"a",[true]]',
      '<n0:v><item i:type="xsd:long">1</item><item i:type="xsd:string">a</item><item><item i:type="xsd:boolean">true</item></item></n0:v>',
    ],
    ['null', '<n0:v i:nil="true"/>'],
    ['{"@xml":"<x/>"}', '<n0:v><x/></n0:v>'],
    ['{"@attributes":{"a":"1"},"@xml":"t"}', '<n0:v a="1">t</n0:v>'],
    ['{"@type":"xs:int","value":5}', '<n0:v i:type="xsd:int">5</n0:v>'],
    ['{"@type":"Animal","Name":"x"}', '<n0:v i:type="n0:Animal"><n0:Name>x</n0:Name></n0:v>'],
    ['{"@type":"Color","value":"red"}', '<n0:v i:type="n0:Color">red</n0:v>'],
    ['{}', '<n0:v/>'],
  ] as const) {
    const written = writeMessage(request, `{"v":[${json}]}`);
    t.is(/^<n0:Get [^>]*>(.*)<\/n0:Get>$/.exec(written)?.[1], xml, json);
  }
  for (const [json, message] of [
    ['{"@type":"Nope"}', 'v[0].@type: expected a type of the service, got another'],
    ['{"@type":"xs:int","value":"x"}', 'v[0].value: expected xs:int, got a string that is no number'],
    ['{"@xml":"<x>"}', 'v[0].@xml: expected well-formed XML, got other text (line 1, column 11)'],
    ['{"@type":"Ghost"}', 'v[0]: expected "@type" with a type that isn\'t abstract, got one that is'],
  ] as const)
    t.throws(() => writeMessage(request, `{"v":[${json}]}`), { instanceOf: MismatchError, message });
});

test('A23: a value of any type in a request is what xsi:type states, else text or XML', (t) => {
  const { request } = compiledGet(t, type, declarations);
  const soapenc = 'xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xsi:type="e:Array"';
  for (const [xml, json] of [
    ['<t:v>a</t:v>', '"a"'],
    ['<t:v/>', '""'],
    ['<t:v xsi:nil="true"/>', 'null'],
    ['<t:v xsi:nil="true" a="1"/>', '{"@nil":true,"@attributes":{"a":"1"}}'],
    ['<t:v xsi:nil="0">x</t:v>', '"x"'],
    ['<t:v xsi:type="xs:string">a</t:v>', '"a"'],
    ['<t:v xsi:type="xs:int">5</t:v>', '{"@type":"xs:int","value":5}'],
    ['<t:v xsi:type="xs:anyType">q</t:v>', '"q"'],
    ['<t:v xsi:type="t:Nope">q</t:v>', '{"@xml":"q"}'],
    ['<t:v xsi:type="Nope"/>', '{"@xml":""}'],
    [
      '<t:v xmlns:o="urn:o" xsi:type="o:Nope" b="1"><o:a/></t:v>',
      '{"@attributes":{"b":"1"},"@xml":"<o:a xmlns:o=\\"urn:o\\"></o:a>"}',
    ],
    [
      '<t:v xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xsi:type="e:int">5</t:v>',
      '{"@type":"xs:int","value":5}',
    ],
    ['<t:v xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xsi:type="e:string">5</t:v>', '"5"'],
    [
      '<t:v xmlns:e="http://schemas.xmlsoap.org/soap/encoding/" xsi:type="e:base64">YQ==</t:v>',
      '{"@type":"xs:base64Binary","value":"YQ=="}',
    ],
    ['<t:v xsi:type="xs:anyType"><a/></t:v>', '{"@xml":"<a></a>"}'],
    ['<t:v xsi:type="t:Animal"><t:Name>n</t:Name></t:v>', '{"@type":"Animal","Name":"n"}'],
    ['<t:v xsi:type="t:Color">red</t:v>', '{"@type":"Color","value":"red"}'],
    ['<t:v b="1">t<c/></t:v>', '{"@attributes":{"b":"1"},"@xml":"t<c></c>"}'],
    ['<t:v>&#xD83D;&#xDE00;</t:v>', '"😀"'],
    ['<t:v href="#a">x</t:v>', '{"@attributes":{"href":"#a"},"@xml":"x"}'],
    ['<t:v b="1"/>', '{"@attributes":{"b":"1"},"@xml":""}'],
    ['<t:v><a/>x&lt;<b/></t:v>', '{"@xml":"<a></a>x&lt;<b></b>"}'],
    [`<t:v ${soapenc}><i xsi:type="xs:int">1</i><i>2</i></t:v>`, '[{"@type":"xs:int","value":1},"2"]'],
  ] as const) {
    const { json: read, problems } = readMessage(request, get(xml));
    t.deepEqual(problems, [], xml);
    t.is(read, `{"v":[${json}]}`, xml);
  }
  for (const [xml, code, message] of [
    ['<t:v xsi:nil="yes"/>', 'InvalidType', 'expected true, false, 1 or 0 in xsi:nil, got another value'],
    ['<t:v xsi:nil="1">x</t:v>', undefined, 'expected no content in an element with xsi:nil'],
    ['<t:v xsi:type="xs:int">x</t:v>', 'InvalidType', 'expected xs:int, got "x"'],
    [
      '<t:v xsi:type="q:int">1</t:v>',
      'InvalidType',
      'expected xsi:type with a bound prefix, got "q:int" with an unbound prefix',
    ],
    [
      '<t:v xsi:type="t:Ghost"/>',
      'InvalidType',
      'expected a type that isn\'t abstract, got "t:Ghost" in namespace "urn:t"',
    ],
    ['<t:v xsi:type="t:Color">blue</t:v>', 'InvalidEnum', 'expected one of red, got "blue"'],
  ] as const) {
    const [problem, ...others] = readMessage(request, get(xml)).problems;
    t.is(problem && problemText(problem), `v[0]: ${message}`);
    if (code !== undefined) t.is(problem?.code, code, xml);
    t.deepEqual(others, []);
  }
});

test('A23: a value of any type is written the same after any other value', (t) => {
  const { request } = compiledGet(
    t,
    sequence(
      `${element('n', 'xs:QName', many)}${element('m', 'xs:QName', 'nillable="true"')}<xs:element name="v" ${many} nillable="true"/>`,
    ),
    declarations,
  );
  const messages = [
    ['{"m":"{u}x"}', '<n0:m xmlns:q0="u">q0:x</n0:m>'],
    ['{"m":"y"}', '<n0:m>y</n0:m>'],
    ['{"m":null}', '<n0:m i:nil="true"/>'],
    ['{"v":[1]}', '<n0:v i:type="xsd:long">1</n0:v>'],
    [
      '{"v":["a",null,true]}',
      '<n0:v i:type="xsd:string">a</n0:v><n0:v i:nil="true"/><n0:v i:type="xsd:boolean">true</n0:v>',
    ],
    ['{"v":[null,1.5]}', '<n0:v i:nil="true"/><n0:v i:type="xsd:decimal">1.5</n0:v>'],
    ['{"v":[null,null,[]]}', '<n0:v i:nil="true"/><n0:v i:nil="true"/><n0:v></n0:v>'],
    ['{"v":[{"@type":"Animal","@nil":true}]}', '<n0:v i:type="n0:Animal" i:nil="true"/>'],
    ['{"v":[[],[],2]}', '<n0:v></n0:v><n0:v></n0:v><n0:v i:type="xsd:long">2</n0:v>'],
    ['{"n":["{u}x"]}', '<n0:n xmlns:q0="u">q0:x</n0:n>'],
    ['{"n":["y","{u}x","y"]}', '<n0:n>y</n0:n><n0:n xmlns:q0="u">q0:x</n0:n><n0:n>y</n0:n>'],
    ['{"n":["z"],"v":[7]}', '<n0:n>z</n0:n><n0:v i:type="xsd:long">7</n0:v>'],
  ] as const;
  for (const [before] of messages)
    for (const [json, xml] of messages) {
      writeMessage(request, before);
      const written = writeMessage(request, json);
      t.is(written.slice(written.indexOf('>') + 1), `${xml}</n0:Get>`, `${json} after ${before}`);
    }
});

test('A23: the limit for XML of any type as text applies to the whole message', (t) => {
  const limits = { ...defaultLimits, rereadText: 30 };
  const { request } = compiledGet(t, type, declarations, {}, limits);
  const read = (xml: string) => {
    const { json, problems } = readMessage(request, get(xml));
    return [json, ...problems.map((problem) => `${problem.code} ${problemText(problem)}`)];
  };
  const problem = 'OutOfRange v[1]: expected at most 30 characters of XML as text in all, got more';
  t.deepEqual(read('<t:v><a>1234</a></t:v><t:v><b>12345678901</b>x</t:v>'), [
    '{"v":[{"@xml":"<a>1234</a>"},{"@xml":"<b>12345678901</b>x"}]}',
  ]);
  t.deepEqual(read('<t:v><a>1234</a></t:v><t:v><b>123456789012</b>x</t:v><t:v>x</t:v>'), [
    '{"v":[{"@xml":"<a>1234</a>"},"x"]}',
    problem,
  ]);
});

test('A12, A23: attributes of a typed text are refused, or counted, for all types', (t) => {
  const { request } = compiledGet(t, sequence(element('v', 'xs:anyType')));
  for (const [type, json] of [
    ['string', '"1"'],
    ['int', '{"@type":"xs:int","value":1}'],
  ] as const) {
    const { problems } = readMessage(request, get(`<t:v xsi:type="xs:${type}" lang="de">1</t:v>`));
    t.deepEqual(problems.map(problemText), ['v.lang: unknown attribute, none is expected here'], type);
    const read = readMessage(request, get(`<t:v xsi:type="xs:${type}" xml:lang="de">1</t:v>`));
    t.deepEqual([read.json, read.problems, read.ignored], [`{"v":${json}}`, [], ['lang']], type);
  }
});

const untyped =
  'expected "@type" in an object where any type may stand, or "@xml" with XML as text, got neither';

test('A23: refuses an object without @type and @xml in a reply where any type is allowed', (t) => {
  const literal = compiledGet(
    t,
    sequence(
      element('one', 'xs:anyType', 'minOccurs="0"') +
        `<xs:element name="many" ${many}/>` +
        element('typed', 't:Holder', 'minOccurs="0"'),
    ),
    `<xs:complexType name="Holder"><xs:sequence>${element('any', 'xs:anyType')}</xs:sequence></xs:complexType>`,
  ).request;
  for (const [json, place] of [
    ['{"one":{"b":1}}', 'one'],
    ['{"one":{"@attributes":{"a":"1"},"b":1}}', 'one'],
    ['{"one":{"@nil":false,"b":1}}', 'one'],
    ['{"one":[{"b":1}]}', 'one[0]'],
    ['{"one":[[{"b":null}]]}', 'one[0][0]'],
    ['{"many":["x",{"b":1}]}', 'many[1]'],
    ['{"typed":{"any":{"b":1}}}', 'typed.any'],
    ['{"one":{"@type":"Holder","any":{"b":1}}}', 'one.any'],
  ] as const)
    t.throws(() => writeMessage(literal, json), {
      instanceOf: MismatchError,
      message: `${place}: ${untyped}`,
    });
  t.regex(writeMessage(literal, '{"one":{"b":1,"any":"x","@type":"Holder"}}'), /<n0:any i:type=/);
  t.is(literal.write(Buffer.from('{"one":{"@xml":"<x/>","b":1}}')).dropped, 1);
});
