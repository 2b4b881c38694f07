import test, { type ExecutionContext } from 'ava';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { receiveContract, sendContract } from '../../../../mappings/contract/transfer.ts';
import { readContract } from '../../../../mappings/loader/load.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { definitionsOf, folderOf, schemaOf } from '../../loader/wsdl/wsdl-folder.ts';
import { compiledGet, element as e, get, many, operationOf, readMessage, sequence } from './messages.ts';

/** Types of Apache SOAP (A23): PHP writes associative arrays as `Map`, Axis writes `Map` and `Vector`. */

const namespace = 'http://xml.apache.org/xml-soap';
const prefixes = `xmlns:t="urn:t" xmlns:ns2="${namespace}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:e="http://schemas.xmlsoap.org/soap/encoding/"`;

/** Returns the rpc operation `Get` whose parts `in` and `out` have a type. `types` are schemas of the document. */
function rpc(type: string, use = 'encoded', types = schemaOf('', 'targetNamespace="urn:t"')): string {
  const body = `<soap:body use="${use}" namespace="urn:t"/>`;
  return definitionsOf(
    types,
    `<w:message name="in"><w:part name="in" type="${type}" xmlns:apache="${namespace}"/></w:message>` +
      '<w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:in"/></w:operation></w:portType>' +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="http://schemas.xmlsoap.org/soap/http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
}

const item = (key: string, value: string): string => `<item>${key}${value}</item>`;
const key = (text: string, type = 'xs:string'): string => `<key xsi:type="${type}">${text}</key>`;

/** Returns the JSON of `in`, and its problems. */
function read(
  t: ExecutionContext,
  type: string,
  content: string,
  attributes = '',
  rest = '',
  use = 'encoded',
) {
  const { request } = operationOf(t, rpc(type, use), 'Get');
  const message = `<Body ${prefixes}><t:Get><in${attributes}>${content}</in></t:Get>${rest}</Body>`;
  const xml = new XmlReader(message, defaultLimits);
  xml.readRoot();
  xml.nextChild();
  const reading = startReading(20);
  const json = request.read(xml, reading);
  return [
    JSON.parse(json).in,
    ...reading.problems.map((problem) => `${problem.code} ${problemText(problem)}`),
  ];
}

/** Returns the element `in` of a reply without declarations. */
function write(t: ExecutionContext, type: string, json: string, use = 'encoded'): string {
  const { reply, request } = operationOf(t, rpc(type, use), 'Get');
  const xml = (reply ?? request).write(Buffer.from(`{"in":${json}}`)).xml.toString();
  return (/<in.*<\/in>|<in[^>]*\/>/.exec(xml)?.[0] ?? xml).replace(/ xmlns:apache="[^"]*"/g, '');
}

const pairs = `${item(key('qty'), '<value xsi:type="xs:string">9</value>')}${item(key('none'), '<value xsi:nil="true"/>')}${item(key('n'), '<value xsi:type="xs:int">5</value>')}`;
const pairsJson = { qty: '9', none: null, n: { '@type': 'xs:int', value: 5 } };

test('A23: a Map is an object, with @type where any type is allowed', (t) => {
  t.deepEqual(read(t, 'apache:Map', pairs), [pairsJson]);
  t.deepEqual(read(t, 'apache:Map', pairs, ' xsi:type="ns2:Map"'), [pairsJson]);
  t.deepEqual(read(t, 'xs:anyType', pairs, ' xsi:type="ns2:Map"'), [{ '@type': 'apache:Map', ...pairsJson }]);
  t.deepEqual(read(t, 'apache:Map', ''), [{}]);
  t.deepEqual(read(t, 'apache:Map', '', ' xsi:nil="1"'), [null]);
  t.deepEqual(read(t, 'xs:anyType', '', ' xsi:type="ns2:Map"'), [{ '@type': 'apache:Map' }]);
});

test('A23: a Map with keys that are not plain strings is a list of keys and values', (t) => {
  const value = '<value xsi:type="xs:string">x</value>';
  for (const [keys, first] of [
    [[key('1', 'xs:int')], { '@type': 'xs:int', value: 1 }],
    [[key('a'), key('a')], 'a'],
    [[key('@type')], '@type'],
    [['<key xsi:nil="1"/>'], null],
    [[''], null],
  ] as const) {
    const content = keys.map((one) => item(one, value)).join('');
    const list = keys.map(() => ({ key: first, value: 'x' }));
    t.deepEqual(read(t, 'apache:Map', content), [list]);
    t.deepEqual(read(t, 'xs:anyType', content, ' xsi:type="ns2:Map"'), [
      { '@type': 'apache:Map', '@items': list },
    ]);
  }
});

test('A23: maps and arrays in a Map are objects and arrays', (t) => {
  const inner = `<value xsi:type="ns2:Map">${item(key('b'), '<value xsi:type="xs:string">1</value>')}</value>`;
  const array = `<value xsi:type="e:Array" e:arrayType="ns2:Map[1]"><item xsi:type="ns2:Map">${item(key('c'), '<value>2</value>')}</item></value>`;
  const content = item(key('a'), inner) + item(key('l'), array);
  t.deepEqual(read(t, 'apache:Map', content), [{ a: { b: '1' }, l: [{ c: '2' }] }]);
});

test('A30: items, keys and values of a Map may be references', (t) => {
  t.deepEqual(
    read(
      t,
      'apache:Map',
      '<item href="#i"/>',
      '',
      '<multiRef id="i"><key href="#k"/><value href="#v"/></multiRef><multiRef id="k" xsi:type="xs:string">a</multiRef><multiRef id="v" xsi:type="ns2:Vector"><item>1</item></multiRef>',
    ),
    [{ a: ['1'] }],
  );
});

for (const [title, content, problem] of [
  [
    'an unknown element',
    '<item><k/></item>',
    'UnknownElement in.item[0].k: expected key or value, got another element',
  ],
  [
    'two keys',
    item(key('a') + key('b'), ''),
    'DuplicateElement in.item[0].key: expected the element once, got it again',
  ],
  ['text in an item', '<item>x</item>', 'InvalidType in.item[0]: expected elements, got text'],
  ['text between items', 'x', 'InvalidType in: expected elements, got text'],
  ['a nil item', '<item xsi:nil="1"/>', 'NotEmpty in.item[0]: expected key and value, got xsi:nil'],
  [
    'a wrong value',
    item(key('a'), '<value xsi:type="xs:int">x</value>'),
    'InvalidType in.item[0].value: expected xs:int, got "x"',
  ],
] as const)
  test(`A23: refuses ${title} in a Map`, (t) => {
    const [, ...problems] = read(t, 'apache:Map', content);
    t.deepEqual(problems, [problem]);
  });

test('A23: writes an object or a list of keys and values as a Map', (t) => {
  const entries =
    '<item><key i:type="xsd:string">a</key><value i:type="xsd:long">1</value></item><item><key i:type="xsd:string">b</key><value i:nil="true"/></item>';
  const map = `<in i:type="apache:Map">${entries}</in>`;
  t.is(write(t, 'apache:Map', '{"a":1,"b":null}'), map);
  t.is(write(t, 'apache:Map', '[{"value":1,"key":"a"},{"key":"b"}]'), map);
  t.is(write(t, 'apache:Map', '{"@type":"apache:Map","@items":[{"key":"a","value":1}],"b":null}'), map);
  t.is(write(t, 'xs:anyType', '{"@type":"apache:Map","a":1,"b":null}'), map);
  t.is(write(t, 'xs:anyType', '{"a":1,"b":null,"@type":"Map"}'), map);
  t.is(write(t, 'apache:Map', '{"a":1,"b":null}', 'literal'), `<in>${entries}</in>`);
  t.is(write(t, 'xs:anyType', '{"@type":"Map","a":1,"b":null}', 'literal'), map);
  t.is(write(t, 'apache:Map', 'null'), '<in i:nil="true"/>');
  t.is(write(t, 'apache:Map', '{"@nil":true}'), '<in i:type="apache:Map" i:nil="true"/>');
  t.is(write(t, 'apache:Map', '{}'), '<in i:type="apache:Map"/>');
  t.is(
    write(t, 'apache:Map', '[{"key":{"@type":"xs:int","value":1},"value":"x"}]'),
    '<in i:type="apache:Map"><item><key i:type="xsd:int">1</key><value i:type="xsd:string">x</value></item></in>',
  );
});

test('A23: an object without @type in a Map, also in an array there, is a Map', (t) => {
  const inner = (name: string, text: string): string =>
    `<${name} i:type="apache:Map"><item><key i:type="xsd:string">b</key><value i:type="xsd:string">${text}</value></item></${name}>`;
  t.is(
    write(t, 'apache:Map', '{"a":{"b":"1"},"l":[{"b":"2"}]}'),
    `<in i:type="apache:Map"><item><key i:type="xsd:string">a</key>${inner('value', '1')}</item><item><key i:type="xsd:string">l</key><value i:type="soapenc:Array" soapenc:arrayType="xsd:anyType[1]">${inner('item', '2')}</value></item></in>`,
  );
});

for (const [json, message] of [
  ['1', 'in: expected an object or an array, got a number'],
  ['[1]', 'in[0]: expected an object, got a number'],
  ['[{"k":1}]', 'in[0].k: expected key and value only, got another member'],
  ['[{"key":"a","key":"b"}]', 'in[0].key: expected the member once, got it again'],
  ['{"a":1,"a":2}', 'in.a: expected the member once, got it again'],
  [
    '{"@a":1}',
    'in.@a: expected a key that begins with @ in "@items", a list of keys and values, got a member',
  ],
  ['{"a":{"@type":"xs:int","value":"x"}}', 'in.a.value: expected xs:int, got a string that is no number'],
] as const)
  test(`A23: refuses ${json} as a Map in a reply`, (t) => {
    t.throws(() => write(t, 'apache:Map', json), { message });
  });

test('A23: a Vector is an array, and is written as a Vector where it is declared', (t) => {
  const content = '<item xsi:type="xs:string">a</item><item xsi:nil="1"/>';
  t.deepEqual(read(t, 'apache:Vector', content), [['a', null]]);
  t.deepEqual(read(t, 'xs:anyType', content, ' xsi:type="ns2:Vector"'), [['a', null]]);
  t.is(
    write(t, 'apache:Vector', '["a",null]'),
    '<in i:type="apache:Vector"><item i:type="xsd:string">a</item><item i:nil="true"/></in>',
  );
  t.throws(() => write(t, 'xs:anyType', '{"@type":"apache:Vector"}'), {
    message: 'in.@type: expected an array in place of an object with an array type',
  });
  t.is(write(t, 'apache:Vector', '["a"]', 'literal'), '<in><item i:type="xsd:string">a</item></in>');
});

test('A23: mapItem, Element and DataHandler are read and written', (t) => {
  for (const [type, content, json, xml] of [
    [
      'mapItem',
      `${key('a')}<value>1</value>`,
      { key: 'a', value: '1' },
      '<key i:type="xsd:string">a</key><value i:type="xsd:string">1</value>',
    ],
    ['Element', '<a b="1"></a>', '<a b="1"></a>', '<a b="1"></a>'],
    ['DataHandler', 'YWJj', 'YWJj', 'YWJj'],
  ] as const) {
    t.deepEqual(read(t, `apache:${type}`, content), [json], type);
    const typed = typeof json === 'string' ? { value: json } : json;
    const stated = { '@type': `apache:${type}`, ...typed };
    t.deepEqual(read(t, 'xs:anyType', content, ` xsi:type="ns2:${type}"`), [stated], type);
    t.is(write(t, 'xs:anyType', JSON.stringify(stated)), `<in i:type="apache:${type}">${xml}</in>`);
    t.true(write(t, `apache:${type}`, JSON.stringify(json)).endsWith(`>${xml}</in>`));
  }
});

test('A23: a Map type declared by the document keeps its member names', (t) => {
  const schema = schemaOf(
    '<xs:complexType name="Map"><xs:sequence><xs:element name="item" type="a:mapItem" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType><xs:complexType name="mapItem"><xs:sequence><xs:element name="key" nillable="true"/><xs:element name="value" nillable="true"/></xs:sequence></xs:complexType>',
    `targetNamespace="${namespace}" xmlns:a="${namespace}" elementFormDefault="qualified"`,
  );
  const { request } = operationOf(t, rpc('apache:Map', 'literal', schema), 'Get');
  const xml = request.write(Buffer.from('{"in":{"a":"1"}}')).xml.toString();
  t.regex(xml, /<in><n1:item><n1:key i:type="xsd:string">a<\/n1:key><n1:value i:type="xsd:string">1</);
  t.is(readMessage(request, xml).json, '{"in":{"a":"1"}}');
});

test('A23: an object without @type in a Map of a literal message is a Map too', (t) => {
  const value = write(t, 'apache:Map', '{"a":{"b":"1"}}', 'literal');
  t.regex(
    value,
    /<value i:type="apache:Map"><item><key[^>]*>b<\/key><value[^>]*>1<\/value><\/item><\/value>/,
  );
});

test('A23: in the list form of a Map a value without @type is a Map, and a key is not', (t) => {
  const list = (key: string, value: string): string =>
    `[{"key":"a","value":"x"},{"key":${key},"value":${value}}]`;
  t.regex(write(t, 'apache:Map', list('"a"', '{"b":"1"}'), 'literal'), /<value i:type="apache:Map"><item>/);
  t.throws(() => write(t, 'apache:Map', list('{"b":"1"}', '"a"')), {
    message: /^in\[1\]\.key: expected/,
  });
});

test('A23: the path of a problem in a Map has 64 characters of an item’s name', (t) => {
  for (const count of [64, 65]) {
    const name = 'n'.repeat(count);
    const [, problem] = read(t, 'apache:Map', `<${name}><x/></${name}>`);
    t.is(problem, `UnknownElement in.${'n'.repeat(64)}[0].x: expected key or value, got another element`);
  }
});

test('A23: a literal message may have types of Apache SOAP where any type is allowed', (t) => {
  const { request } = compiledGet(t, sequence(`<xs:element name="v" ${many}/>`));
  const content = `<t:v xmlns:p="${namespace}" xsi:type="p:Map">${item(key('a'), '<value>1</value>')}</t:v>`;
  const { json, problems } = readMessage(request, get(content));
  t.deepEqual(problems, []);
  t.is(json, '{"v":[{"@type":"apache:Map","a":"1"}]}');
  t.is(readMessage(request, request.write(Buffer.from(json)).xml.toString()).json, json);
});

test('A23: a service may have its own type Map', (t) => {
  const declarations = `<xs:complexType name="Map"><xs:sequence>${e('a')}</xs:sequence></xs:complexType>`;
  const { request } = compiledGet(t, sequence(`<xs:element name="v" ${many}/>`), declarations);
  const json = '{"v":[{"@type":"Map","a":"1"},{"@type":"apache:Map","b":"1"}]}';
  const xml = request.write(Buffer.from(json)).xml.toString();
  t.regex(xml, /i:type="n0:Map"><n0:a>1</);
  t.is(readMessage(request, xml).json, json);
});

test('a contract with types of Apache SOAP can be sent to another thread', (t) => {
  const { contract } = readContract(folderOf(t, { 'service.wsdl': rpc('apache:Map') }));
  const [operation] =
    receiveContract(structuredClone(sendContract(contract))).adopted?.service.operations ?? [];
  t.deepEqual(operation, contract.adopted?.service.operations[0]);
});
