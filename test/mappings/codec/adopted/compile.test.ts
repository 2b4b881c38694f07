import test, { type ExecutionContext } from 'ava';
import {
  type CompiledAdoptedOperation,
  compileAdopted,
  compileAdoptedInSteps,
  isEmptyBody,
  withHeaders,
} from '../../../../mappings/codec/adopted/compile.ts';
import { problemText, startReading } from '../../../../mappings/codec/problem.ts';
import { defaultLimits } from '../../../../mappings/contract/limits.ts';
import { defaultSettings } from '../../../../mappings/contract/overlay-keys.ts';
import { openFieldsOf } from '../../../../mappings/loader/wsdl/renames.ts';
import { XmlReader } from '../../../../mappings/xml/reader.ts';
import { get as binding, definitionsOf, getOf, schemaOf, serviceOf } from '../../loader/wsdl/wsdl-folder.ts';
import {
  compiledGet,
  element as e,
  get,
  many,
  maybe,
  operationOf,
  readMessage,
  sequence,
  writeMessage,
} from './messages.ts';

const xsi = ' xmlns:i="http://www.w3.org/2001/XMLSchema-instance"';
const xsd = ' xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
const soapenc = ' xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"';
const [t0, u1, v2] = [' xmlns:n0="urn:t"', ' xmlns:n1="urn:u"', ' xmlns:n2="urn:v"'];

/** Schemas of two additional namespaces. */
const others =
  schemaOf(
    `<xs:import namespace="urn:v"/><xs:import namespace="urn:t"/><xs:element name="E" type="xs:int"/><xs:element name="In" type="u:Box" substitutionGroup="t:Head"/><xs:attribute name="at" type="xs:int"/><xs:complexType name="Box"><xs:sequence><xs:element ref="v:E" minOccurs="0"/></xs:sequence></xs:complexType>` +
      '<xs:complexType name="Child"><xs:complexContent><xs:extension base="t:Base"><xs:sequence><xs:element ref="v:E" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>',
    'targetNamespace="urn:u" xmlns:u="urn:u" xmlns:v="urn:v" elementFormDefault="qualified"',
  ) + schemaOf('<xs:element name="E" type="xs:int"/>', 'targetNamespace="urn:v"');

const xmlsoap = 'http://schemas.xmlsoap.org/soap/';

/** Returns an rpc operation `Get` with the given request parts. */
function rpcOf(schemas: string, use: string, parts: string): string {
  const body = `<soap:body use="${use}" namespace="urn:t"/>`;
  return definitionsOf(
    schemas,
    `<w:message name="in">${parts}</w:message><w:message name="out"/><w:portType name="P"><w:operation name="Get"><w:input message="t:in"/><w:output message="t:out"/></w:operation></w:portType>` +
      `<w:binding name="B" type="t:P"><soap:binding style="rpc" transport="${xmlsoap}http"/><w:operation name="Get"><soap:operation soapAction=""/><w:input>${body}</w:input><w:output>${body}</w:output></w:operation></w:binding>` +
      '<w:service name="S"><w:port name="P" binding="t:B"><soap:address location="http://old.example/"/></w:port></w:service>',
  );
}

/** Returns the operation `Get` with a body type, next to schemas of two additional namespaces. */
function operation(t: ExecutionContext, type: string): CompiledAdoptedOperation {
  const schema = schemaOf(
    `<xs:import namespace="urn:u"/><xs:import namespace="urn:v"/><xs:element name="Get">${type}</xs:element><xs:element name="Head" type="xs:anyType" abstract="true"/><xs:complexType name="Base"/><xs:complexType name="Alone"/>`,
    'targetNamespace="urn:t" xmlns:u="urn:u" xmlns:v="urn:v" elementFormDefault="qualified"',
  );
  return operationOf(t, definitionsOf(schema + others, binding), 'Get');
}

for (const [title, type, json, declarations, content] of [
  ['its own namespace alone', sequence(e('a', 'xs:int')), '{"a":1}', xsi + t0, '><n0:a>1</n0:a></n0:Get>'],
  [
    'that of an element from elsewhere',
    sequence('<xs:element ref="u:E"/>'),
    '{"E":1}',
    xsi + t0 + u1,
    '><n1:E>1</n1:E></n0:Get>',
  ],
  [
    'that of an attribute from elsewhere',
    sequence('', '<xs:attribute ref="u:at"/>'),
    '{"at":1}',
    xsi + t0 + u1,
    ' n1:at="1"/>',
  ],
  [
    'those of a derived type and what it holds',
    sequence(e('a', 't:Base', maybe)),
    '{"a":{"@type":"Child","E":1}}',
    xsi + t0 + u1 + v2,
    '><n0:a i:type="n1:Child"><n2:E>1</n2:E></n0:a></n0:Get>',
  ],
] as const)
  test(`a body declares ${title}`, (t) => {
    const { request } = operation(t, type);
    t.is(writeMessage(request, json), `<n0:Get${declarations}${content}`);
  });

test('a body declares the namespace of a type that has derived types, and of no other type', (t) => {
  const family = (more: string): string =>
    schemaOf('<xs:complexType name="Base"/>', 'targetNamespace="urn:u" elementFormDefault="qualified"') +
    schemaOf(
      `<xs:import namespace="urn:u"/><xs:element name="Get">${sequence('<xs:element name="a" type="u:Base"/>')}</xs:element>${more}`,
      'targetNamespace="urn:t" xmlns:u="urn:u" elementFormDefault="qualified"',
    );
  const kid =
    '<xs:complexType name="Kid"><xs:complexContent><xs:extension base="u:Base"/></xs:complexContent></xs:complexType>';
  const textOf = (more: string, json: string): string =>
    writeMessage(operationOf(t, definitionsOf(family(more), binding), 'Get').request, json);
  t.is(textOf('', '{"a":{}}'), `<n0:Get${xsi}${t0}><n0:a/></n0:Get>`);
  t.is(textOf(kid, '{"a":{"@type":"Kid"}}'), `<n0:Get${xsi}${t0}${u1}><n0:a i:type="n0:Kid"/></n0:Get>`);
});

test('a body declares the namespace of an array’s attributes if it has one', (t) => {
  const schema = schemaOf(
    `<xs:import namespace="${xmlsoap}encoding/"/><xs:element name="Get">${sequence('', '<xs:attribute ref="s:offset"/>')}</xs:element>`,
    `targetNamespace="urn:t" elementFormDefault="qualified" xmlns:s="${xmlsoap}encoding/"`,
  );
  const { request } = operationOf(t, definitionsOf(schema, binding), 'Get');
  t.is(writeMessage(request, '{"offset":"[1]"}'), `<n0:Get${xsi}${soapenc}${t0} soapenc:offset="[1]"/>`);
});

test('a body with any content declares the namespace of an empty type', (t) => {
  const schemas =
    schemaOf(`<xs:element name="Get">${sequence('<xs:element name="a"/>')}</xs:element>`) +
    schemaOf('<xs:complexType name="W"/>', 'targetNamespace="urn:w"');
  const { request } = operationOf(t, definitionsOf(schemas, binding), 'Get');
  t.is(
    writeMessage(request, '{"a":{"@type":"W"}}'),
    `<n0:Get${xsi}${xsd}${soapenc}${t0} xmlns:n1="urn:w"><n0:a i:type="n1:W"/></n0:Get>`,
  );
});

test('A20: elements of one name that substitute a head have numbers', (t) => {
  const sub = (more = ''): string =>
    `<xs:element name="E" type="xs:int" substitutionGroup="t:Head" ${more}/>`;
  const head = '<xs:import namespace="urn:t"/>';
  const schemas =
    schemaOf(
      `<xs:element name="Get">${sequence('<xs:element ref="t:Head" minOccurs="0"/>')}</xs:element><xs:element name="Head" type="xs:int"/>${sub()}`,
    ) + ['u', 'v'].map((name) => schemaOf(`${head}${sub()}`, `targetNamespace="urn:${name}"`)).join('');
  const { request } = operationOf(t, definitionsOf(schemas, binding), 'Get');
  for (const [member, prefix] of [
    ['Head', 'n0'],
    ['E', 'n0'],
    ['E_2', 'n1'],
    ['E_3', 'n2'],
  ] as const) {
    const json = `{"Head":{"${member}":1}}`;
    const text = writeMessage(request, json);
    const name = `${prefix}:${member.replace(/_.$/, '')}`;
    t.is(text, `<n0:Get${xsi}${t0}${u1}${v2}><${name}>1</${name}></n0:Get>`);
    t.is(readMessage(request, text).json, json);
  }
});

test('a body declares the namespaces inside an element that substitutes a head', (t) => {
  const schemas =
    schemaOf(
      `<xs:import namespace="urn:v"/><xs:element name="Get">${sequence('<xs:element ref="t:Head"/>')}</xs:element><xs:complexType name="Base"/><xs:element name="Head" type="t:Base"/>` +
        '<xs:element name="In" substitutionGroup="t:Head"><xs:complexType><xs:complexContent><xs:extension base="t:Base"><xs:sequence><xs:element ref="v:E"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:element>',
      'targetNamespace="urn:t" xmlns:v="urn:v" elementFormDefault="qualified"',
    ) + schemaOf('<xs:element name="E" type="xs:int"/>', 'targetNamespace="urn:v"');
  const { request } = operationOf(t, definitionsOf(schemas, binding), 'Get');
  t.is(
    writeMessage(request, '{"Head":{"In":{"E":1}}}'),
    `<n0:Get${xsi}${t0} xmlns:n1="urn:v"><n0:In><n1:E>1</n1:E></n0:In></n0:Get>`,
  );
});

test('A30: an encoded body with any content declares the namespaces inside types too', (t) => {
  const parts = '<w:part name="any" type="xs:anyType"/>';
  const { request } = operationOf(
    t,
    rpcOf(schemaOf('<xs:complexType name="Base"/><xs:element name="Head"/>') + others, 'encoded', parts),
    'Get',
  );
  const text = writeMessage(request, '{"any":{"@type":"Box","E":1}}');
  t.regex(text, /<any i:type="n(\d):Box"><n(\d):E i:type="xsd:int">1<\/n\2:E><\/any>/);
  t.is(readMessage(request, text).json, '{"any":{"@type":"Box","E":1}}');
});

test('a body declares the namespaces of elements that can substitute a head', (t) => {
  const { request } = operation(t, sequence('<xs:element ref="t:Head" minOccurs="0"/>'));
  const text = writeMessage(request, '{"Head":{"In":{"E":1}}}');
  t.is(text.slice(text.indexOf('>')), '><n1:In><n2:E>1</n2:E></n1:In></n0:Get>');
  for (const declared of [xsi, xsd, soapenc, t0, u1, v2]) t.true(text.includes(`${declared}`), declared);
});

test('a body with any content declares the namespaces of all types and their content', (t) => {
  const { request } = operation(t, sequence('<xs:element name="a"/>'));
  const all = `${xsi}${xsd}${soapenc}${t0} xmlns:n1="urn:v" xmlns:n2="urn:u"`;
  t.is(
    writeMessage(request, '{"a":{"@type":"Box","E":1}}'),
    `<n0:Get${all}><n0:a i:type="n2:Box"><n1:E>1</n1:E></n0:a></n0:Get>`,
  );
  t.is(writeMessage(request, '{"a":1}'), `<n0:Get${all}><n0:a i:type="xsd:long">1</n0:a></n0:Get>`);
});

for (const [namespace, member, rest] of [
  ['##other', '{urn:o}x', '><f:x xmlns:f="urn:o" i:type="xsd:int">1</f:x></n0:Get>'],
  ['urn:z', 'x', ' xmlns:n1="urn:z"><n1:x i:type="xsd:int">1</n1:x></n0:Get>'],
] as const)
  test(`a body whose open elements of ${namespace} are members declares their namespaces`, (t) => {
    const type =
      '<xs:complexType><xs:complexContent><xs:extension base="t:Open"/></xs:complexContent></xs:complexType>';
    const open = `<xs:complexType name="Open"><xs:sequence><xs:any namespace="${namespace}" ${many}/></xs:sequence></xs:complexType>`;
    const service = serviceOf(t, getOf(type, open));
    openFieldsOf(service, ['Open'], (pointer, problem) => t.fail(`${pointer}: ${problem}`));
    const { operations } = compileAdopted(service, defaultSettings.adopted, defaultLimits);
    const { request } = operations.get('Get') as CompiledAdoptedOperation;
    t.is(
      writeMessage(request, `{"@any":{"${member}":{"@type":"xs:int","value":1}}}`),
      `<n0:Get${xsi}${xsd}${soapenc}${t0}${rest}`,
    );
  });

test('an attribute in the schema-instance namespace has its prefix', (t) => {
  const instances = 'http://www.w3.org/2001/XMLSchema-instance';
  const schemas =
    schemaOf(
      `<xs:import namespace="${instances}"/><xs:element name="Get">${sequence('', '<xs:attribute ref="x:a"/>')}</xs:element>`,
      `targetNamespace="urn:t" xmlns:x="${instances}" elementFormDefault="qualified"`,
    ) + schemaOf('<xs:attribute name="a" type="xs:int"/>', `targetNamespace="${instances}"`);
  const { request } = operationOf(t, definitionsOf(schemas, binding), 'Get');
  t.is(writeMessage(request, '{"a":1}'), `<n0:Get${xsi}${t0} i:a="1"/>`);
});

test('A9: an operation without an output has no reply', (t) => {
  const oneWay = binding
    .replace('<w:output message="t:out"/>', '')
    .replace('<w:output><soap:body use="literal"/></w:output>', '');
  const { request, reply } = operationOf(t, definitionsOf(schemaOf(e('Get')), oneWay), 'Get');
  t.is(reply, undefined);
  t.is(readMessage(request, get('x')).json, '"x"');
});

test('a namespace is declared with escaped quotes; that of XML is not declared', (t) => {
  const named = (text: string): string => text.replaceAll('"urn:t"', '"urn:t&quot;"');
  const wsdl = getOf(sequence('', '<xs:attribute ref="xml:lang"/>'));
  const { request } = operationOf(t, named(wsdl), 'Get');
  t.is(writeMessage(request, '{"lang":"de"}'), `<n0:Get${xsi} xmlns:n0="urn:t&quot;" xml:lang="de"/>`);
});

test('an array of SOAP’s encoding in a literal message declares the namespaces of its items', (t) => {
  const array =
    '<xs:complexType name="Boxes"><xs:complexContent><xs:restriction base="soapenc:Array" xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"><xs:attribute ref="soapenc:arrayType" w:arrayType="u:Box[]" xmlns:w="http://schemas.xmlsoap.org/wsdl/"/></xs:restriction></xs:complexContent></xs:complexType>';
  const { request } = operation(
    t,
    `${sequence('<xs:element name="a" type="t:Boxes"/>')}</xs:element>${array}<xs:element name="Rest">`,
  );
  const text = writeMessage(request, '{"a":[{"E":1}]}');
  t.is(text, `<n0:Get${xsi}${t0}${' xmlns:n1="urn:v"'}><n0:a><item><n1:E>1</n1:E></item></n0:a></n0:Get>`);
});

test('W10: refuses text after the JSON of a reply', (t) => {
  const { request } = compiledGet(t, sequence(e('a', 'xs:int', maybe)));
  t.throws(() => writeMessage(request, '{"a":1} 2'), { name: 'JsonError' });
  t.regex(writeMessage(request, '{"a":1} '), /<n0:a>1<\/n0:a>/);
});

test('A7: a message without a part is no element', (t) => {
  const parts = '<w:part name="p" element="t:Get"/>';
  const wsdl = definitionsOf(schemaOf(e('Get')), binding.replace(parts, ''));
  const { request } = operationOf(t, wsdl, 'Get');
  t.like(readMessage(request, '<x/>'), { json: '{}', problems: [] });
  const [problem] = readMessage(request, '<x><y/></x>').problems;
  t.deepEqual(problem, { code: 'UnknownElement', path: '', expected: 'no content in Body', got: 'some' });
  const { xml, headers, dropped } = request.write(Buffer.from('{"a":1}'));
  t.deepEqual([xml.toString(), headers, dropped], ['', '', 0]);
  const asked = { ignores: false, ignored: [] };
  t.is(request.write(Buffer.from('{}'), asked).xml.length, 0);
  t.throws(() => request.write(Buffer.from('{"a":1}'), asked), { message: /^a: unknown member/ });
});

test('A7, A30: skips the elements next to the absent element of an encoded message', (t) => {
  const parts = '<w:part name="p" element="t:Get"/>';
  const encoded = binding.replace(parts, '').replaceAll('use="literal"', 'use="encoded"');
  const { request } = operationOf(t, definitionsOf(schemaOf(e('Get')), encoded), 'Get');
  const xml = readerAt('<Body><x/><m/></Body>');
  xml.nextChild();
  const reading = startReading(20);
  t.is(request.read(xml, reading), '{}');
  t.deepEqual([reading.problems, xml.depth], [[], 0]);
});

test('A8: header blocks of a JSON caller without unknown members are unchanged', (t) => {
  const { request } = withMore(t, ['Two'], {});
  const write = (block: string) =>
    request.write(Buffer.from(`{"@headers":{"Two":{${block}}},"a":1}`), { ignores: true, ignored: [] }).left;
  t.is(write('"a":1'), undefined);
  t.deepEqual(write('"a":1,"x":2')?.names, ['x']);
  t.throws(() => request.write(Buffer.from('{"@headers":[1],"a":1}'), { ignores: true, ignored: [] }), {
    message: '@headers: expected an object, got another value',
  });
});

test('a service is compiled one operation at a time', (t) => {
  const service = serviceOf(t, getOf(sequence(e('a', 'xs:int'))));
  const [operation] = service.operations;
  const stepsOf = (count: number): number => {
    const operations = operation === undefined ? [] : Array<typeof operation>(count).fill(operation);
    return [...compileAdoptedInSteps({ ...service, operations }, {}, defaultLimits)].length;
  };
  t.is(stepsOf(4) - stepsOf(1), 3);
});

test('a service is compiled one type at a time', (t) => {
  const stepsOf = (count: number): number => {
    const names = Array.from({ length: count }, (_, index) => `T${index}`);
    const types = names.map((name) => `<xs:complexType name="${name}"/>`).join('');
    const members = names.map((name) => e(name, `t:${name}`, maybe)).join('');
    const service = serviceOf(t, getOf(sequence(members), types));
    return [...compileAdoptedInSteps(service, {}, defaultLimits)].length;
  };
  t.is(stepsOf(6) - stepsOf(2), 4);
});

test('W13: refuses xsi:nil with content for a call without parts', (t) => {
  const { request } = operationOf(t, rpcOf('', 'literal', ''), 'Get');
  t.deepEqual(readMessage(request, get('x', ' xsi:nil="1"')).problems.map(problemText), [
    'expected no content in an element with xsi:nil',
  ]);
});

test('A30: an rpc call without parts is only its wrapper, which may be nil', (t) => {
  const wsdl = rpcOf('', 'literal', '');
  const { request } = operationOf(t, wsdl, 'Get');
  t.is(writeMessage(request, '{}'), `<n0:Get${xsi}${t0}/>`);
  const problems = (content: string, attributes = ''): readonly string[] =>
    readMessage(request, get(content, attributes)).problems.map(problemText);
  t.deepEqual(problems(''), []);
  t.deepEqual(problems('<y/>', ' x="1"'), [
    'x: unknown attribute, none is expected here',
    'y: unknown element, none is expected here',
  ]);
  const nil = readMessage(request, get('', ' xsi:nil="true"'));
  t.deepEqual([nil.json, nil.problems, nil.deviations], ['{}', [], ['nilOperation']]);
  t.deepEqual(readMessage(request, get('')).deviations, []);
  t.throws(() => writeMessage(request, '[]'), { message: 'expected an object, got an array' });
  t.is(writeMessage(request, 'null'), '');
});

const ids = `<xs:complexType name="Ids"><xs:sequence>${e('id', 'xs:int', many)}</xs:sequence></xs:complexType>`;
const color =
  '<xs:simpleType name="Color"><xs:restriction base="xs:string"><xs:enumeration value="red"/></xs:restriction></xs:simpleType>';
const needy = `<xs:complexType name="Needy"><xs:sequence>${e('a', 'xs:int')}${e('s', 't:Color', maybe)}</xs:sequence></xs:complexType>`;

/** Returns the operation `Get` with header blocks and faults, each of one element. */
function withMore(
  t: ExecutionContext,
  blocks: readonly string[],
  faults: Readonly<Record<string, string>>,
  body = sequence(e('a', 'xs:int') + e('s', 't:Color', maybe)),
): CompiledAdoptedOperation {
  const names = Object.keys(faults);
  const elements =
    e('One', 't:Needy', 'nillable="true"') +
    e('Two', 't:Needy') +
    e('Many', 't:Ids') +
    e('Text') +
    e('Maybe', 't:Needy', 'nillable="true"') +
    e('Anything', 'xs:anyType') +
    e('Empty', 't:Empty', 'nillable="true"');
  const wsdl = definitionsOf(
    schemaOf(
      `<xs:element name="Get">${body}</xs:element>${ids}${color}${needy}<xs:complexType name="Empty"/>${elements}`,
    ),
    blocks
      .map((name) => `<w:message name="h${name}"><w:part name="p" element="t:${name}"/></w:message>`)
      .join('') +
      names
        .map(
          (name) => `<w:message name="f${name}"><w:part name="p" element="t:${faults[name]}"/></w:message>`,
        )
        .join('') +
      binding
        .replaceAll(
          '<soap:body use="literal"/>',
          `${blocks.map((name) => `<soap:header message="t:h${name}" part="p" use="literal"/>`).join('')}<soap:body use="literal"/>`,
        )
        .replace(
          '<w:output message="t:out"/>',
          `<w:output message="t:out"/>${names.map((name) => `<w:fault name="${name}" message="t:f${name}"/>`).join('')}`,
        )
        .replace(
          '</w:output></w:operation></w:binding>',
          `</w:output>${names.map((name) => `<w:fault name="${name}"><soap:fault name="${name}" use="literal"/></w:fault>`).join('')}</w:operation></w:binding>`,
        ),
  );
  return operationOf(t, wsdl, 'Get');
}

function readerAt(text: string): XmlReader {
  const xml = new XmlReader(text, defaultLimits);
  xml.readRoot();
  return xml;
}

test('A8: missing, unknown and unrepresentable values of header blocks count with the body’s', (t) => {
  const { request } = withMore(t, ['One', 'Two', 'Text'], {});
  const counts = (json: string) => {
    const { missing, dropped, replaced, passed } = request.write(Buffer.from(json));
    return { missing, dropped, replaced, passed };
  };
  const block = '{"x":1,"y":2,"s":"blue"}';
  t.deepEqual(counts(`{"@headers":{"One":${block},"Two":${block},"Text":"\\u0001"},"z":3,"s":"b\\u0002"}`), {
    missing: 3,
    dropped: 5,
    replaced: 2,
    passed: 3,
  });
  t.deepEqual(counts('{"a":1}'), { missing: 0, dropped: 0, replaced: 0, passed: 0 });
  t.deepEqual(counts('{"@headers":{"Two":{"a":1,"s":"green"}},"a":1,"b":2}'), {
    missing: 0,
    dropped: 1,
    replaced: 0,
    passed: 1,
  });
});

test('A8: header blocks are written in order, a nil one too, and none for null or a list', (t) => {
  const { request } = withMore(t, ['One', 'Many'], {});
  const headers = (json: string): string => request.write(Buffer.from(json)).headers.replaceAll(xsi + t0, '');
  t.is(
    headers('{"a":1,"@headers":{"Many":[1,2],"One":null}}'),
    '<n0:Many><n0:id>1</n0:id><n0:id>2</n0:id></n0:Many><n0:One i:nil="true"/>',
  );
  for (const none of [
    '{"a":1}',
    '{"@headers":null}',
    '{"@headers":[1]}',
    '{"@headers":{}}',
    '{"a":1,"b":{"@headers":{"One":null}}}',
  ])
    t.is(headers(none), '', none);
  t.throws(() => headers('[1]'), { message: 'expected an object, got an array' });
});

test('A8: a header block is read at its position in @headers; a refused one is not read', (t) => {
  const { request } = withMore(t, ['One', 'Two', 'Many'], {});
  const reading = startReading(20);
  const read = (content: string): string | undefined => request.readHeader(readerAt(content), reading);
  const [open, nil] = [
    ' xmlns="urn:t"',
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="1"',
  ];
  t.is(read(`<One${open}><a>x</a></One>`), '"One":{}');
  t.is(read(`<One${open}${nil}/>`), '"One":null');
  t.is(read(`<Two${open}${nil}/>`), undefined);
  t.is(read(`<Many${open}><id>1</id></Many>`), '"Many":[1]');
  t.is(read(`<Two${open}/>`), '"Two":{}');
  t.deepEqual(reading.problems.map(problemText), ['@headers.One.a: expected xs:int, got "x"']);
  t.deepEqual(
    reading.missing.map(({ path }) => path),
    ['@headers.Two.a'],
  );
  t.deepEqual(reading.path, []);
  t.throws(() => read(`<Three${open}/>`), {
    instanceOf: RangeError,
    message: 'readHeader: expected a declared block',
  });
});

test('A8: header blocks are the first member of a body that is an object', (t) => {
  t.is(withHeaders('{"a":1}', []), '{"a":1}');
  t.is(withHeaders('{"a":1}', ['"B":2', '"C":3']), '{"@headers":{"B":2,"C":3},"a":1}');
  t.is(withHeaders('{}', ['"B":2']), '{"@headers":{"B":2}}');
  t.is(withHeaders('[1]', ['"B":2']), '[1]');
});

test('A29: a fault is identified by its element, its type or its own name, the first of each', (t) => {
  const { faults } = withMore(t, [], { F: 'One', G: 'Many', Two: 'Text' });
  const detail = (json: string): string | undefined => faults.write(json)?.detail.replace(xsi + t0, '');
  t.is(detail('{"@fault":"One","a":1}'), '<n0:One><n0:a>1</n0:a></n0:One>');
  t.is(detail('{"@fault":"Needy","a":1}'), '<n0:One><n0:a>1</n0:a></n0:One>');
  t.is(detail('{"@fault":"F","a":1}'), '<n0:One><n0:a>1</n0:a></n0:One>');
  t.is(detail('{"@fault":"Many","id":[1]}'), '<n0:Many><n0:id>1</n0:id></n0:Many>');
  t.is(detail('{"@fault":"Ids"}'), '<n0:Many/>');
  t.is(detail('{"@fault":"Two","value":"x"}'), '<n0:Text>x</n0:Text>');
  t.is(detail('{"@fault":"Text"}'), '');
  for (const none of ['[1]', '1', '{"@fault":null}', '{"message":"@code"}'])
    t.is(faults.write(none), undefined, none);
  for (const unknown of ['1', '"G\\u0000"', '{"a":"One"}', '"string"'])
    t.throws(() => faults.write(`{"@fault":${unknown}}`), {
      message: '@fault: expected a declared fault (One, Many, Text), got another',
    });
  t.throws(() => withMore(t, [], {}).faults.write('{"@fault":"One"}'), {
    message: '@fault: expected none, as no fault is declared, got another',
  });
});

test('A29: of faults with one name the first is used', (t) => {
  const { faults } = withMore(t, [], { Two: 'One', One: 'Two' });
  const detail = (name: string): string | undefined =>
    faults.write(`{"@fault":"${name}","a":1}`)?.detail.replace(xsi + t0, '');
  t.is(detail('One'), '<n0:One><n0:a>1</n0:a></n0:One>');
  t.is(detail('Two'), '<n0:Two><n0:a>1</n0:a></n0:Two>');
  t.is(detail('Needy'), '<n0:One><n0:a>1</n0:a></n0:One>');
});

test('A29: the reason of a fault is a string, or its name', (t) => {
  const { faults } = withMore(t, [], { F: 'One' });
  t.is(faults.write('{"@fault":"F","@message":"a\\nb"}')?.message, 'a\nb');
  for (const message of ['1', 'null', '{"a":"b"}', '["a"]'])
    t.is(faults.write(`{"@fault":"\\u0046","@message":${message}}`)?.message, 'F');
});

test('A29: a declared detail that is nil, empty, refused or not an object is read too', (t) => {
  const { faults } = withMore(t, [], { F: 'One', G: 'Two', H: 'Text', I: 'Anything', J: 'Empty' });
  const reading = startReading(20);
  const read = (text: string): string | undefined => faults.read(readerAt(text), reading);
  const open = ' xmlns="urn:t" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  t.is(read(`<One${open} xsi:nil="true"/>`), '{"@fault":"One","value":null}');
  t.is(read(`<Two${open} xsi:nil="true"/>`), '{"@fault":"Two","value":null}');
  t.is(read(`<Empty${open}/>`), '{"@fault":"Empty"}');
  t.is(read(`<One${open}><a>1</a></One>`), '{"@fault":"One","a":1}');
  t.is(read(`<Text${open}>{}</Text>`), '{"@fault":"Text","value":"{}"}');
  t.is(read(`<Anything${open}>x</Anything>`), '{"@fault":"Anything","value":"x"}');
  t.deepEqual(reading.problems, []);
  t.is(read(`<Text${open}><a/></Text>`), '{"@fault":"Text","value":null}');
  t.is(reading.problems.map(problemText)[0], 'expected xs:string, got elements');
  t.is(read('<One xmlns="urn:o"/>'), undefined);
});

test('A10: an element without a namespace matches the first unused one with its name', (t) => {
  const { request } = operation(
    t,
    sequence(
      `${e('E', 'xs:int', maybe)}<xs:element ref="u:E" minOccurs="0"/><xs:element ref="v:E" minOccurs="0"/>`,
    ),
  );
  const read = (content: string) => readMessage(request, get(content)).json;
  t.is(read('<E>1</E>'), '{"E":1}');
  t.is(read('<E>1</E><E>2</E><E>3</E>'), '{"E":1,"E_2":2,"E_3":3}');
  t.is(read('<u:E xmlns:u="urn:u">1</u:E><E>2</E><v:E xmlns:v="urn:v">3</v:E>'), '{"E_2":1,"E":2,"E_3":3}');
});

test('A29: reads @code, @message, @actor and @detail of an error response', (t) => {
  const { faults } = withMore(t, [], { F: 'One' });
  const write = (members: string) => faults.write(`{${members}}`);
  t.like(write('"@message":"a"'), { isDeclared: false, message: 'a', code: undefined, detail: '' });
  t.like(write('"@code":"Server","@actor":"urn:a","other":1'), {
    message: undefined,
    actor: 'urn:a',
    dropped: 1,
  });
  t.like(write('"@fault":"One","a":1,"@actor":"urn:a","@detail":"<x/>"'), {
    isDeclared: true,
    message: 'One',
    dropped: 0,
  });
  t.regex(write('"@fault":"One","a":1,"@detail":"<x/>"')?.detail ?? '', /<\/n0:One><x\/>$/);
  t.is(write('"@detail":["<x/>","<y xmlns=\\"urn:y\\"/>"]')?.detail, '<x/><y xmlns="urn:y"/>');
  t.is(write('"@detail":"a &lt; b"')?.detail, 'a &lt; b');
  t.is(write('"@detail":null,"@actor":null,"@code":null')?.detail, '');
  for (const [member, reason] of [
    ['"@code":1', '@code: expected a string, got another value'],
    ['"@actor":[]', '@actor: expected a string, got another value'],
    ['"@code":""', '@code: expected a fault code such as'],
    ['"@code":"a b"', '@code: expected a fault code such as'],
    ['"@code":"x:Other"', '@code: expected a fault code such as'],
    ['"@code":"<x/>"', '@code: expected a fault code such as'],
    ['"@code":"{urn:x}"', '@code: expected a fault code such as'],
    ['"@code":"{}a"', '@code: expected a fault code such as'],
    ['"@detail":"<x>"', '@detail: expected well-formed XML as a string, got other text'],
    ['"@detail":"\\u0001"', '@detail: expected well-formed XML as a string, got other text'],
    ['"@detail":{"a":1}', '@detail: expected well-formed XML as a string, got other text (no string)'],
    ['"@detail":["<x/>",1]', '@detail: expected well-formed XML as a string, got other text (no string)'],
    ['"@message":"a","@message":"b"', '@message: expected the member once, got it again'],
  ] as const)
    t.true(t.throws(() => write(member))?.message.startsWith(reason), member);
});

for (const [code, is, more, namespace, local] of [
  ['Server', 'receiver', '', '', 'Server'],
  ['Receiver', 'receiver', '', '', 'Receiver'],
  ['Sender', 'sender', '', '', 'Sender'],
  ['SOAP-ENV:Client', 'sender', '', '', 'Client'],
  ['Client.NoStock', 'sender', '.NoStock', '', 'Client.NoStock'],
  ['soap:Server.A.B', 'receiver', '.A.B', '', 'Server.A.B'],
  ['Other', undefined, '', '', 'Other'],
  ['Other.More', undefined, '', '', 'Other.More'],
  ['{urn:x}NoStock', undefined, '', 'urn:x', 'NoStock'],
  ['{urn:x}Server.A', undefined, '', 'urn:x', 'Server.A'],
] as const)
  test(`A29: reads the @code ${code} of an error response`, (t) => {
    const { faults } = withMore(t, [], {});
    t.deepEqual(faults.write(`{"@code":"${code}"}`)?.code, { is, more, namespace, local });
  });

for (const [title, type, isEmpty] of [
  ['an element of no content', '<xs:complexType/>', true],
  ['an empty sequence', sequence(''), true],
  ['a sequence', sequence(e('a', 'xs:int', maybe)), false],
  ['an attribute', '<xs:complexType><xs:attribute name="a" type="xs:int"/></xs:complexType>', false],
  ['any attributes', '<xs:complexType><xs:anyAttribute/></xs:complexType>', false],
  ['mixed content', '<xs:complexType mixed="true"/>', false],
  ['a text', '<xs:simpleType><xs:restriction base="xs:string"/></xs:simpleType>', false],
] as const)
  test(`A7: a body with ${title} is ${isEmpty ? 'empty' : 'not empty'}`, (t) => {
    const [operation] = serviceOf(t, getOf(type)).operations;
    t.is(operation && isEmptyBody(operation.input.body), isEmpty);
  });

test('A29: a @code has at most 256 characters', (t) => {
  const { faults } = withMore(t, [], {});
  t.is(faults.write(`{"@code":"${'c'.repeat(256)}"}`)?.code?.local.length, 256);
  t.throws(() => faults.write(`{"@code":"${'c'.repeat(257)}"}`));
});
