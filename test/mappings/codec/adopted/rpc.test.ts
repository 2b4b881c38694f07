import test from 'ava';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { definitionsOf, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { element as e, maybe, operationOf, readMessage, writeMessage } from './messages.ts';

const soapenc = 'http://schemas.xmlsoap.org/soap/encoding/';
const arrayOf = (name: string, item: string): string =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:restriction base="soapenc:Array" xmlns:soapenc="${soapenc}"><xs:attribute ref="soapenc:arrayType" w:arrayType="${item}[]" xmlns:w="http://schemas.xmlsoap.org/wsdl/"/></xs:restriction></xs:complexContent></xs:complexType>`;
const types = schemaOf(
  `<xs:complexType name="Order"><xs:sequence>${e('id', 'xs:int')}${e('next', 't:Order', maybe)}${e('lines', 't:Strings', maybe)}${e('more', 't:Orders', maybe)}${e('grid', 't:Grid', maybe)}${e('table', 't:Table', maybe)}</xs:sequence></xs:complexType>` +
    arrayOf('Strings', 'xs:string') +
    arrayOf('Orders', 't:Order') +
    arrayOf('Grid', 't:Strings') +
    arrayOf('Table', 'xs:string[]'),
  'targetNamespace="urn:t"',
);

/** Returns the rpc operation `Get` with two parts. */
function rpc(use: string): string {
  const body = `<soap:body use="${use}" namespace="urn:t"/>`;
  return definitionsOf(
    types,
    '<w:message name="in"><w:part name="order" type="t:Order"/><w:part name="any" type="xs:anyType"/></w:message><w:message name="out"><w:part name="order" type="t:Order"/></w:message>' +
      '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:out"/></w:operation></w:portType>' +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
}

test('A30: the parts of an rpc/literal message are elements without a namespace', (t) => {
  const { request, reply } = operationOf(t, rpc('literal'), 'Get');
  const read = readMessage(
    request,
    '<t:Get xmlns:t="urn:t"><order><id>1</id><lines><item>a</item></lines></order></t:Get>',
  );
  t.deepEqual(read.problems, []);
  t.is(read.json, '{"order":{"id":1,"lines":["a"]}}');
  t.regex(
    writeMessage(reply ?? request, '{"order":{"id":1,"lines":["a"]}}'),
    /^<n0:GetResponse [^>]*><order><id>1<\/id><lines><item>a<\/item><\/lines><\/order><\/n0:GetResponse>$/,
  );
  const nil = '{"order":{"id":1,"lines":["a",null]}}';
  const written = writeMessage(reply ?? request, nil);
  t.true(written.endsWith('<lines><item>a</item><item i:nil="true"/></lines></order></n0:GetResponse>'));
  t.is(readMessage(reply ?? request, written).json, nil);
  const none = readMessage(request, '<t:Get xmlns:t="urn:t"/>');
  t.deepEqual([none.json, none.problems, none.missing], ['{}', [], []]);
  const unknown = readMessage(request, '<t:Get xmlns:t="urn:t"><ordr/></t:Get>');
  t.is(unknown.problems.map(problemText)[0], 'ordr: unknown element, did you mean order?');
});

const prefixes =
  'xmlns:t="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"';

/** Returns a body's JSON and problems. */
function readBody(t: Parameters<typeof operationOf>[0], content: string, rest = '') {
  const { request } = operationOf(t, rpc('encoded'), 'Get');
  const xml = new XmlReader(`<Body ${prefixes}><t:Get>${content}</t:Get>${rest}</Body>`, defaultLimits);
  xml.readRoot();
  xml.nextChild();
  const reading = startReading(20);
  const json = request.read(xml, reading);
  xml.finish();
  return { json, problems: reading.problems.map(problemText) };
}

test('A30: an encoded message of a JSON caller round-trips, also if texts look like references', (t) => {
  const { request } = operationOf(t, rpc('encoded'), 'Get', { validate: 'strict' });
  const json =
    '{"order":{"id":1,"next":{"id":2},"lines":["href","a:ref=\\"#1\\"",null],"grid":[["<a href=\\"#1\\"/>"]]},"any":"href"}';
  const { xml, missing } = request.write(Buffer.from(json), { ignores: false, ignored: [] });
  t.is(missing, 0);
  const read = readMessage(request, xml.toString());
  t.deepEqual(read.problems, []);
  t.is(read.json, json);
});

test('A30: references of an encoded message are resolved in place', (t) => {
  t.deepEqual(
    readBody(
      t,
      '<order href="#id0"/><any href="#id2"/>',
      '<multiRef id="id0" xsi:type="t:Order"><id xsi:type="xs:int">1</id><next href="#id1"/></multiRef><multiRef id="id1"><id>2</id><lines soapenc:arrayType="xs:string[2]" xsi:type="soapenc:Array"><x>a</x><x xsi:nil="true"/></lines></multiRef><multiRef id="id2" xsi:type="xs:string">text</multiRef>',
    ),
    { json: '{"order":{"id":1,"next":{"id":2,"lines":["a",null]}},"any":"text"}', problems: [] },
  );
  t.deepEqual(readBody(t, '<order id="a"><id>1</id></order><any xsi:nil="true"/>'), {
    json: '{"order":{"id":1},"any":null}',
    problems: [],
  });
});

test('A30: references and arrays of SOAP 1.2’s encoding are read too', (t) => {
  const soap12 = 'xmlns:e="http://www.w3.org/2003/05/soap-encoding"';
  t.deepEqual(
    readBody(
      t,
      `<order ${soap12} e:ref="id0"/><any xmlns:f="http://www.w3.org/2003/05/soap-encoding" f:ref="id2"/>`,
      `<multiRef ${soap12} e:id="id0"><id>1</id><lines e:itemType="xs:string" e:arraySize="2" e:nodeType="array"><x>a</x><x xsi:nil="1"/></lines></multiRef><m ${soap12} e:id="id2" xsi:type="xs:string">text</m>`,
    ),
    { json: '{"order":{"id":1,"lines":["a",null]},"any":"text"}', problems: [] },
  );
  const other = '<order xmlns:e="urn:e" e:ref="a"><id>1</id></order>';
  t.is(readBody(t, other).json, '{"order":{"id":1}}');
  t.deepEqual(
    readBody(t, `<order ${soap12} e:ref="id0"/>`, '<m xmlns:e="urn:e" e:id="id0"><id>1</id></m>').problems,
    ['order: expected href with the id of an element of the message, got "#id0"'],
  );
});

for (const [title, content, rest, problem] of [
  [
    'a reference without a target',
    '<order href="#x"/>',
    '',
    'order: expected href with the id of an element of the message, got "#x"',
  ],
  [
    'a reference that reaches itself',
    '<order href="#a"/>',
    '<m id="a"><id>1</id><next href="#b"/></m><m id="b"><id>2</id><next href="#a"/></m>',
    'order.next.next: expected a value, got a reference to an element around it, "#a"',
  ],
  [
    'an array of which a part is sent',
    '<order><id>1</id><lines soapenc:offset="[2]"/></order>',
    '',
    'order.lines: expected all items of the array, got offset',
  ],
] as const)
  test(`A30: refuses ${title}`, (t) => {
    t.deepEqual(readBody(t, content, rest).problems, [problem]);
  });

test('A30: refuses a value that is no array, reference or nil, and reads the next one', (t) => {
  const { request } = operationOf(t, rpc('encoded'), 'Get');
  for (const [content, ...expected] of [
    ['<order><lines>x</lines></order>', 'InvalidType order.lines: expected elements, got text'],
    [
      '<order><lines><x>a</x><x soapenc:position="[4]">b</x></lines></order>',
      'InvalidType order.lines[1]: expected all items of the array, got position',
    ],
    [
      '<order><lines soapenc:arrayType="xs:string[2,2]"><x>a</x><x>b</x><x>c</x><x>d</x></lines></order>',
      'InvalidType order.lines: expected an array of one dimension, which alone are served',
    ],
    [
      '<any xsi:type="soapenc:Array" soapenc:arrayType="xs:string[,][1]"><x xsi:type="soapenc:Array" soapenc:arrayType="xs:string[1, 2]"><y>a</y><y>b</y></x></any>',
      'InvalidType any[0]: expected an array of one dimension, which alone are served',
    ],
    [
      '<order><lines xmlns:enc="http://www.w3.org/2003/05/soap-encoding" enc:arraySize="1 2"><x>a</x><x>b</x></lines></order>',
      'InvalidType order.lines: expected an array of one dimension, which alone are served',
    ],
    [
      '<order><lines soapenc:position="[1]"><x/></lines></order>',
      'InvalidType order.lines: expected all items of the array, got position',
    ],
    [
      '<order><lines><x>a</x><x><y/></x><x>b</x><x href="#q"/></lines></order><any href="#r"/>',
      'InvalidType order.lines[1]: expected xs:string, got elements',
      'InvalidType order.lines[3]: expected href with the id of an element of the message, got "#q"',
      'InvalidType any: expected href with the id of an element of the message, got "#r"',
    ],
    [
      '<order><lines xsi:nil="1"><x/></lines></order>',
      'InvalidType order.lines: expected no content in an element with xsi:nil',
    ],
    [
      '<order href="#a">x</order><a id="a"/>',
      'InvalidType order: expected no content in an element with href',
      'UnknownElement a: unknown element, expected order, any',
    ],
    [
      '<any xsi:type="q:int"/>',
      'InvalidType any: expected xsi:type with a bound prefix, got "q:int" with an unbound prefix',
    ],
  ] as const) {
    const { problems } = readMessage(request, `<t:Get ${prefixes}>${content}</t:Get>`);
    t.deepEqual(
      problems.map((problem) => `${problem.code} ${problemText(problem)}`),
      expected,
    );
  }
});

test('A30: reads arrays in any type, of arrays too, and null for nil ones', (t) => {
  const soap12 = 'xmlns:e="http://www.w3.org/2003/05/soap-encoding"';
  for (const [content, json] of [
    ['<any xsi:type="t:Strings"><x>a</x></any>', '{"any":["a"]}'],
    [
      '<any xsi:type="soapenc:Array"><x>a</x><y xsi:type="xs:int">1</y></any>',
      '{"any":["a",{"@type":"xs:int","value":1}]}',
    ],
    [`<any ${soap12} xsi:type="e:Array"><x/></any>`, '{"any":[""]}'],
    ['<order><grid><x><y>a</y><y>b</y></x><x/></grid></order>', '{"order":{"grid":[["a","b"],[]]}}'],
    ['<order><more><x><id>2</id></x></more></order>', '{"order":{"more":[{"id":2}]}}'],
    ['<order><lines xsi:nil="true"/></order>', '{"order":{"lines":null}}'],
    ['<order xsi:nil="true"/>', '{"order":null}'],
  ] as const) {
    const { request } = operationOf(t, rpc('encoded'), 'Get');
    const read = readMessage(request, `<t:Get ${prefixes}>${content}</t:Get>`);
    t.deepEqual(read.problems, []);
    t.is(read.json, json);
  }
});

test('A30: a header block of an encoded message cannot refer to elements', (t) => {
  const wsdl = rpc('encoded')
    .replace(
      '<w:portType',
      '<w:message name="h"><w:part name="Session" type="xs:string"/></w:message><w:portType',
    )
    .replace(
      '<w:input><soap:body',
      '<w:input><soap:header message="t:h" part="Session" use="encoded" namespace="urn:t"/><soap:body',
    );
  const { request } = operationOf(t, wsdl, 'Get');
  const xml = new XmlReader(`<t:Session ${prefixes} href="#a"/>`, defaultLimits);
  xml.readRoot();
  const reading = startReading(20);
  t.is(request.readHeader(xml, reading), undefined);
  t.deepEqual(reading.problems.map(problemText), [
    '@headers.Session: expected href with the id of an element of the message, got "#a"',
  ]);
});

test('A30, W11: a string typed as base64 is the decoded text', (t) => {
  t.deepEqual(
    readBody(
      t,
      '<order><id>1</id><lines xsi:type="soapenc:Array"><item xsi:type="soapenc:base64">w6k=</item></lines></order>',
    ),
    { json: '{"order":{"id":1,"lines":["é"]}}', problems: [] },
  );
});

test('A30: refuses arrays of several dimensions, and only these', (t) => {
  const { request } = operationOf(t, rpc('encoded').replace('xs:string[]', 'xs:string[,]'), 'Get');
  const problem = 'order.lines: expected an array of one dimension, which alone are served';
  const order = (lines: string) =>
    readMessage(request, `<t:Get ${prefixes}><order><id>1</id>${lines}</order></t:Get>`);
  const refused = order('<lines><item/></lines>');
  t.deepEqual(
    [refused.json, ...refused.problems.map((problem) => `${problem.code} ${problemText(problem)}`)],
    ['{"order":{"id":1}}', `InvalidType ${problem}`],
  );
  const nil = order('<lines xsi:nil="true"><item/></lines>');
  t.deepEqual([nil.json, nil.problems], ['{"order":{"id":1,"lines":null}}', []]);
  t.regex(
    writeMessage(request, '{"order":{"lines":null,"id":1}}'),
    /<order [^>]*><id [^>]*>1<\/id><lines i:nil="true"\/><\/order>/,
  );
  const read = readMessage(
    request,
    `<t:Get ${prefixes}><order><id>1</id><lines><item/></lines></order></t:Get>`,
  );
  t.is(read.problems.map(problemText)[0], problem);
  t.throws(() => writeMessage(request, '{"order":{"id":1,"lines":[]}}'), { message: problem });
  t.deepEqual(readMessage(request, `<t:Get ${prefixes}><order><id>1</id></order></t:Get>`).problems, []);
});

test('A30: references that double at each step are limited', (t) => {
  const rest = Array.from({ length: 60 }, (_, index) => {
    const next = `<v href="#a${index + 1}"/>`;
    return `<m id="a${index}" xsi:type="soapenc:Array">${next}${next}</m>`;
  }).join('');
  const { problems } = readBody(
    t,
    '<any href="#a0"/>',
    `${rest}<m id="a60" xsi:type="xs:string">${'x'.repeat(100_000)}</m>`,
  );
  t.regex(problems[0] ?? '', /expected fewer or shorter references, got too much behind them/);
});

test('A30: an encoded reply has the type of each element', (t) => {
  const { reply } = operationOf(t, rpc('encoded'), 'Get');
  if (reply === undefined) throw new Error('no reply');
  const text = writeMessage(reply, '{"order":{"id":1,"lines":["a",null]}}');
  t.regex(
    text,
    /^<n0:GetResponse [^>]*soap:encodingStyle="http:\/\/schemas.xmlsoap.org\/soap\/encoding\/"[^>]*>/,
  );
  t.is(
    text.slice(text.indexOf('>') + 1),
    '<order i:type="n0:Order"><id i:type="xsd:int">1</id><lines i:type="soapenc:Array" soapenc:arrayType="xsd:string[2]"><item i:type="xsd:string">a</item><item i:nil="true"/></lines></order></n0:GetResponse>',
  );
  t.is(readMessage(reply, text).json, '{"order":{"id":1,"lines":["a",null]}}');
});

test('A30: arrays have the type of their items, values of any type their own', (t) => {
  const { request } = operationOf(t, rpc('encoded'), 'Get');
  const array = (type: string): string => `i:type="soapenc:Array" soapenc:arrayType="${type}"`;
  for (const [json, xml] of [
    [
      '{"order":{"more":[{"id":2}],"grid":[["a"],[],null]}}',
      `<order i:type="n0:Order"><more ${array('n0:Order[1]')}><item i:type="n0:Order"><id i:type="xsd:int">2</id></item></more>` +
        `<grid ${array('n0:Strings[3]')}><item ${array('xsd:string[1]')}><item i:type="xsd:string">a</item></item><item ${array('xsd:string[0]')}></item><item i:nil="true"/></grid></order>`,
    ],
    [
      '{"any":[1,"a",null,[true]]}',
      `<any ${array('xsd:anyType[4]')}><item i:type="xsd:long">1</item><item i:type="xsd:string">a</item><item i:nil="true"/><item ${array('xsd:anyType[1]')}><item i:type="xsd:boolean">true</item></item></any>`,
    ],
    [
      '{"order":{"table":[["a"]]}}',
      `<order i:type="n0:Order"><table ${array('xsd:anyType[1]')}><item ${array('xsd:string[1]')}><item i:type="xsd:string">a</item></item></table></order>`,
    ],
    ['{"any":{"@xml":"<a/>"}}', '<any><a/></any>'],
    ['{"any":{"@type":"Order","id":1}}', '<any i:type="n0:Order"><id i:type="xsd:int">1</id></any>'],
    [
      '{"order":{"lines":null},"any":null}',
      '<order i:type="n0:Order"><lines i:nil="true"/></order><any i:nil="true"/>',
    ],
  ] as const) {
    const text = writeMessage(request, json);
    t.is(text.slice(text.indexOf('>') + 1), `${xml}</n0:Get>`);
  }
});

const more = schemaOf(
  `<xs:complexType name="Order"><xs:sequence>${e('id', 'xs:int', maybe)}<xs:element name="in" minOccurs="0"><xs:complexType><xs:sequence>${e('a', 'xs:string', maybe)}</xs:sequence><xs:attribute name="n" type="xs:int"/></xs:complexType></xs:element>${e('many', 't:Many', maybe)}</xs:sequence><xs:attribute name="k" type="xs:int"/></xs:complexType>` +
    `<xs:complexType name="Many"><xs:sequence>${e('v', 'xs:string', 'minOccurs="0" maxOccurs="unbounded"')}</xs:sequence></xs:complexType><xs:complexType name="Other"/>`,
  'targetNamespace="urn:t"',
);

test('A30: in an encoded message foreign attributes, ids and types have no effect', (t) => {
  const { request } = operationOf(t, rpc('encoded').replace(types, more), 'Get');
  const read = (content: string) => {
    const { json, problems, ignored } = readMessage(request, `<t:Get ${prefixes}>${content}</t:Get>`);
    return { json, problems: problems.map((problem) => `${problem.code} ${problemText(problem)}`), ignored };
  };
  t.deepEqual(
    read(
      '<order id="x" k="1" soapenc:root="1" t:z="2" xsi:type="t:Other"><id id="y" soapenc:root="0" xsi:type="xs:string">1</id><in id="z" n="2"/><many id="v" xsi:type="soapenc:Array"><v id="w">b</v></many></order>',
    ),
    { json: '{"order":{"k":1,"id":1,"in":{"n":2},"many":["b"]}}', problems: [], ignored: [] },
  );
  t.deepEqual(read('<order l="1"><id m="2">3</id></order>'), {
    json: '{"order":{"id":3}}',
    problems: [
      'UnknownElement order.l: unknown attribute, did you mean k?',
      'UnknownElement order.id.m: unknown attribute, none is expected here',
    ],
    ignored: [],
  });
});

test('A30: in an encoded reply an anonymous type is not written', (t) => {
  const { request } = operationOf(t, rpc('encoded').replace(types, more), 'Get');
  const text = writeMessage(request, '{"order":{"k":1,"in":{"n":2},"many":["b",null]}}');
  t.is(
    text.slice(text.indexOf('>') + 1),
    '<order i:type="n0:Order" k="1"><in n="2"/><many><v i:type="xsd:string">b</v><v i:nil="true"/></many></order></n0:Get>',
  );
});

test('A30, W11: refuses invalid base64 in a string typed as base64', (t) => {
  const problem = 'order.lines[0]: expected the base64 of UTF-8 text, as its xsi:type says, got other text';
  for (const content of ['w6k', '/w==', '<x/>', '?'])
    t.deepEqual(
      readBody(
        t,
        `<order><id>1</id><lines><item xsi:type="xs:base64Binary">${content}</item></lines></order>`,
      ),
      { json: '{"order":{"id":1,"lines":[]}}', problems: [problem] },
      content,
    );
  const { request } = operationOf(t, rpc('encoded').replace(types, more), 'Get');
  const refused = readMessage(
    request,
    `<t:Get ${prefixes}><order><many><v xsi:type="xs:base64Binary">?</v></many></order></t:Get>`,
  );
  t.deepEqual(
    refused.problems.map(({ code, path }) => [code, path]),
    [['InvalidType', 'order.many.v[0]']],
  );
  t.throws(() =>
    readBody(
      t,
      '<order><id>1</id><lines><item xsi:type="xs:base64Binary">&#xD83D;&#xDE00;</item></lines></order>',
    ),
  );
  t.is(readBody(t, '<order><id xsi:type="xs:base64Binary">1</id></order>').json, '{"order":{"id":1}}');
  t.is(
    readBody(t, '<order><id>1</id><lines><item xsi:type="xs:string">w6k=</item></lines></order>').json,
    '{"order":{"id":1,"lines":["w6k="]}}',
  );
});

test('A30: skips elements after the first one that are not referenced', (t) => {
  const order = '<order><id>1</id></order>';
  const rest = '<m><n><o/></n><n/></m><m/>';
  t.deepEqual(readBody(t, order, rest), { json: '{"order":{"id":1}}', problems: [] });
  t.deepEqual(readBody(t, '<order href="#a"/>', `${rest}<m id="a"><id>1</id></m>`), {
    json: '{"order":{"id":1}}',
    problems: [],
  });
});

test('A30: a part in another namespace is read by its local name, which is recorded', (t) => {
  const { request } = operationOf(t, rpc('literal'), 'Get');
  const read = (content: string) => readMessage(request, `<t:Get xmlns:t="urn:t">${content}</t:Get>`);
  const { json, problems, deviations } = read('<t:order><id>1</id></t:order>');
  t.deepEqual([json, problems, deviations], ['{"order":{"id":1}}', [], ['partNamespace']]);
  t.deepEqual(read('<order><id>1</id></order>').deviations, []);
});

test('A30: references are resolved within their message only', (t) => {
  const { request } = operationOf(t, rpc('encoded'), 'Get');
  const read = (content: string) => readMessage(request, `<t:Get ${prefixes}>${content}</t:Get>`);
  t.deepEqual(read('<order href="#a"/><any id="a" xsi:type="t:Order"><id>1</id></any>').problems, []);
  t.is(
    read('<order href="#a"/>').problems.map(problemText)[0],
    'order: expected href with the id of an element of the message, got "#a"',
  );
});

test('A30: items of an array are objects if their type on its own would be an array', (t) => {
  const wsdl = rpc('encoded')
    .replace(types, more)
    .replace(
      'name="Other"/>',
      `name="Lists"><xs:complexContent><xs:restriction base="soapenc:Array" xmlns:soapenc="${soapenc}"><xs:attribute ref="soapenc:arrayType" w:arrayType="t:Many[]" xmlns:w="http://schemas.xmlsoap.org/wsdl/"/></xs:restriction></xs:complexContent></xs:complexType>`,
    )
    .replace(e('many', 't:Many', maybe), e('many', 't:Lists', maybe));
  const { request } = operationOf(t, wsdl, 'Get');
  const json = '{"order":{"many":[{"v":["a","b"]},{}]}}';
  const text = writeMessage(request, json);
  t.regex(text, /<many i:type="soapenc:Array" soapenc:arrayType="n0:Many\[2\]"><item i:type="n0:Many"><v /);
  t.is(readMessage(request, text).json, json);
});

/** Returns the operation `Get` of an encoded binding whose fault `Many` has one part `list` of a type. */
function withFault(type: string): string {
  const body = '<soap:body use="encoded" namespace="urn:t"/>';
  return definitionsOf(
    types,
    `<w:message name="in"/><w:message name="many"><w:part name="list" type="${type}"/></w:message>` +
      '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:in"/><w:fault name="Many" message="t:many"/></w:operation></w:portType>' +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output><w:fault name="Many"><soap:fault name="Many" use="encoded" namespace="urn:t"/></w:fault></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
}

for (const [type, value, xml] of [
  [
    't:Strings',
    '["x","y"]',
    '<n0:list i:type="soapenc:Array" soapenc:arrayType="xsd:string[2]"><item i:type="xsd:string">x</item><item i:type="xsd:string">y</item></n0:list>',
  ],
  ['t:Strings', '[]', '<n0:list i:type="soapenc:Array" soapenc:arrayType="xsd:string[0]"></n0:list>'],
  [
    't:Orders',
    '[{"id":1}]',
    '<n0:list i:type="soapenc:Array" soapenc:arrayType="n0:Order[1]"><item i:type="n0:Order"><id i:type="xsd:int">1</id></item></n0:list>',
  ],
  ['xs:anyType', '"x"', '<n0:list i:type="xsd:string">x</n0:list>'],
  ['xs:anyType', '{"@type":"xs:int","value":1}', '<n0:list i:type="xsd:int">1</n0:list>'],
  ['xs:int', '7', '<n0:list i:type="xsd:int">7</n0:list>'],
] as const)
  test(`A29, A30: a declared fault with a part of ${type} has ${value} as its value`, (t) => {
    const { faults } = operationOf(t, withFault(type), 'Get');
    for (const name of ['list', 'Many']) {
      const detail = faults.write(`{"@fault":"${name}","value":${value}}`)?.detail ?? '';
      t.is(detail.replace(/ xmlns:\w+="[^"]*"/g, ''), xml);
      const reader = new XmlReader(detail, defaultLimits);
      reader.readRoot();
      const reading = startReading(20);
      t.is(faults.read(reader, reading), `{"@fault":"list","value":${value}}`);
      t.deepEqual(reading.problems, []);
    }
  });

test('A29: the refusal of a declared fault has the path within its value', (t) => {
  const { faults } = operationOf(t, withFault('t:Orders'), 'Get');
  t.throws(() => faults.write('{"@fault":"list","value":[{"id":"x"}]}'), {
    message: 'value[0].id: expected xs:int, got a string that is no number',
  });
});

test('A23: refuses an object without @type in rpc parts and in arrays of any type', (t) => {
  for (const use of ['literal', 'encoded']) {
    const { request } = operationOf(t, rpc(use), 'Get');
    for (const [json, place] of [
      ['{"any":{"b":1}}', 'any'],
      ['{"any":[{"@type":"Order","id":1},{"b":1}]}', 'any[1]'],
    ] as const)
      t.true(t.throws(() => writeMessage(request, json))?.message.startsWith(`${place}: expected "@type"`));
  }
});

test('A23: reads an array type that only xsi:type names', (t) => {
  const { request } = operationOf(
    t,
    withFault('xs:int').replace(
      '<w:message name="in"/>',
      '<w:message name="in"><w:part name="any" type="xs:anyType"/></w:message>',
    ),
    'Get',
  );
  const message = `<t:Get ${prefixes}><any xsi:type="t:Orders"><x><id>1</id></x></any></t:Get>`;
  t.is(readMessage(request, message).json, '{"any":[{"id":1}]}');
});
