import test, { type ExecutionContext } from 'ava';
import type { AdoptedService, NotServedPart } from '../../../../mappings/contract/adopted.ts';
import type { AdoptedMessage } from '../../../../mappings/contract/type-graph.ts';
import { writeNamesLock } from '../../../../mappings/loader/names/names-lock.ts';
import { adoptedNames } from '../../../../mappings/loader/wsdl/load-adopted.ts';
import { definitionsOf, load, nameOf, problemsOf, schemaOf, serviceOf } from './wsdl-folder.ts';

const soap = 'http://schemas.xmlsoap.org/soap/http';

/** An operation of a port type: its messages and its SOAP binding. */
interface Written {
  readonly name: string;
  readonly input?: string;
  readonly output?: string;
  readonly faults?: string;
  readonly action?: string;
  readonly bound?: string;
}

function portType(name: string, operations: readonly Written[]): string {
  const written = operations.map(
    ({ name: its, input, output, faults = '' }) =>
      `<w:operation name="${its}">${input === undefined ? '' : `<w:input message="t:${input}"/>`}${output === undefined ? '' : `<w:output message="t:${output}"/>`}${faults}</w:operation>`,
  );
  return `<w:portType name="${name}">${written.join('')}</w:portType>`;
}

const literal =
  '<w:input><soap:body use="literal"/></w:input><w:output><soap:body use="literal"/></w:output>';

function binding(of: string, operations: readonly Written[], attributes = 'style="document"'): string {
  const written = operations.map(
    ({ name, action = '', bound = literal }) =>
      `<w:operation name="${name}"><soap:operation soapAction="${action}"/>${bound}</w:operation>`,
  );
  return `<w:binding name="${of}Binding" type="t:${of}"><soap:binding transport="${soap}" ${attributes}/>${written.join('')}</w:binding>`;
}

function port(of: string, address = `http://old.example/${of}`): string {
  return `<w:port name="${of}Port" binding="t:${of}Binding"><soap:address location="${address}"/></w:port>`;
}

const message = (name: string, ...parts: readonly string[]): string =>
  `<w:message name="${name}">${parts.map((part) => `<w:part ${part}/>`).join('')}</w:message>`;

const elements = ['A', 'B', 'Session', 'Gone']
  .map((name) => `<xs:element name="${name}"><xs:complexType/></xs:element>`)
  .join('');
const messages =
  message('a', 'name="p" element="t:A"') +
  message('b', 'name="p" element="t:B"') +
  message('none') +
  message('typed', 'name="p" type="xs:int"') +
  message('two', 'name="p" element="t:A"', 'name="q" element="t:B"') +
  message('call', 'name="n" type="xs:int"', 'name="s" type="xs:string"') +
  message('session', 'name="p" element="t:A"', 'name="session" element="t:Session"') +
  message('gone', 'name="detail" element="t:Gone"');

function wsdlOf(rest: string): string {
  return definitionsOf(schemaOf(elements), messages + rest);
}

/** Loads a port type `P` with a port, in document style by default. */
function served(t: ExecutionContext, operations: readonly Written[], attributes?: string): AdoptedService {
  const service = `<w:service name="S">${port('P')}</w:service>`;
  return serviceOf(t, wsdlOf(portType('P', operations) + binding('P', operations, attributes) + service));
}

function bodyOf({ body }: AdoptedMessage): string {
  switch (body.kind) {
    case 'empty':
      return 'empty';
    case 'element':
      return nameOf(body.element);
    case 'rpc':
      return `{${body.wrapper.namespace}}${body.wrapper.local}(${body.parts.map((part) => `${nameOf(part)} ${part.type.name?.local}`).join(', ')})`;
  }
}

const reasonOf = ({ name, reason }: NotServedPart) => ({ name, reason });

test('A4: an operation is named by its name if unique, by its body element, or with its port type', (t) => {
  const first = [
    { name: 'service', input: 'a' },
    { name: 'Alone', input: 'none' },
  ];
  const second = [
    { name: 'service', input: 'b' },
    { name: 'twice', input: 'none' },
  ];
  const third = [{ name: 'twice', input: 'none' }];
  const all = [
    ['P', first],
    ['Q', second],
    ['R', third],
  ] as const;
  const { operations, ports } = serviceOf(
    t,
    wsdlOf(
      `${all.map(([name, its]) => portType(name, its) + binding(name, its)).join('')}<w:service name="S">${all.map(([name]) => port(name)).join('')}</w:service>`,
    ),
  );
  t.deepEqual(
    operations.map(({ name, portType: its, wsdlName }) => [name, its, wsdlName]),
    [
      ['A', 'P', 'service'],
      ['Alone', 'P', 'Alone'],
      ['B', 'Q', 'service'],
      ['Q_twice', 'Q', 'twice'],
      ['R_twice', 'R', 'twice'],
    ],
  );
  t.deepEqual(
    ports.map(({ name, operations: its }) => [name, its.length]),
    [
      ['PPort', 2],
      ['QPort', 2],
      ['RPort', 1],
    ],
  );
});

test('A4: an operation of two bindings is one, with both actions', (t) => {
  const operation = { name: 'Get', input: 'a', output: 'b', action: 'urn:1' };
  const second = binding('P', [{ ...operation, action: 'urn:2' }])
    .replaceAll('soap:', 'soap12:')
    .replace('PBinding', 'P12Binding')
    .replace('<w:binding', '<w:binding xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"');
  const twelve = port('P12', 'http://old.example/')
    .replaceAll('soap:', 'soap12:')
    .replace('<w:port', '<w:port xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"');
  const { operations, ports } = serviceOf(
    t,
    wsdlOf(
      `${portType('P', [operation])}${binding('P', [operation])}${second}<w:service name="S">${port('P')}${twelve}</w:service>`,
    ),
  );
  t.deepEqual(
    operations.map(({ name, action, actions }) => [name, action, actions]),
    [['Get', 'urn:1', ['urn:1', 'urn:2']]],
  );
  t.deepEqual(
    ports.map(({ soap: version, path }) => [version, path]),
    [
      ['1.1', '/P'],
      ['1.2', undefined],
    ],
  );
  t.true(ports.every(({ operations: its }) => its[0] === operations[0]));
});

test('A4, A5: HTTP and other bindings are listed as not served, with their ports', (t) => {
  const get =
    '<w:binding name="HBinding" type="t:P" xmlns:h="http://schemas.xmlsoap.org/wsdl/http/"><h:binding verb="GET"/></w:binding>';
  const jms = binding('J', []).replace(soap, 'http://www.w3.org/2010/soapjms/').replace('t:J"', 't:P"');
  const operation = { name: 'Get', input: 'a' };
  const { notServed, operations } = serviceOf(
    t,
    wsdlOf(
      `${portType('P', [operation])}${binding('P', [operation])}${get}${jms}<w:service name="S">${port('P')}${port('H')}</w:service>`,
    ),
  );
  t.is(operations.length, 1);
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'HBinding', reason: 'its binding is not a SOAP binding' },
    { name: 'JBinding', reason: 'its transport is not HTTP' },
    { name: 'HPort', reason: 'a port without a SOAP binding and address' },
  ]);
});

test('A5: a SOAP binding without a port is served as if it had one', (t) => {
  const operation = { name: 'Get', input: 'a' };
  const { service, warnings } = load(t, {
    'service.wsdl': wsdlOf(portType('P', [operation]) + binding('P', [operation])),
  });
  t.deepEqual(
    service.ports.map(({ name, path }) => [name, path]),
    [['PBinding', undefined]],
  );
  t.deepEqual(
    warnings.map(({ message: its }) => its),
    ['no port has the binding PBinding, so a port is assumed'],
  );
});

test('A7: the body is the element of the single part, or empty; other messages are not served', (t) => {
  const { operations, notServed } = served(t, [
    { name: 'One', input: 'a', output: 'none' },
    { name: 'Typed', input: 'typed' },
    { name: 'Two', input: 'two' },
    { name: 'Listed', input: 'two', bound: literal.replace('<soap:body', '<soap:body parts="q"') },
  ]);
  t.deepEqual(
    operations.map(({ name, input, output }) => [name, bodyOf(input), output && bodyOf(output)]),
    [
      ['One', 'A', 'empty'],
      ['Listed', 'B', undefined],
    ],
  );
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'P.Typed', reason: 'the part of its message is of a type, in document style' },
    { name: 'P.Two', reason: 'its message has several parts in the body, in document style' },
  ]);
});

for (const [what, input, parts, body, warnings] of [
  [
    'no part that exists',
    'a',
    'in',
    'A',
    ['soap:body names the part "in", which the message a does not have; the parts without a header are used'],
  ],
  [
    'a part that exists and another one',
    'two',
    'q in',
    'B',
    ['soap:body names the part "in", which the message two does not have; it is ignored'],
  ],
  ['no part', 'a', '', 'empty', []],
] as const) {
  test(`A7: soap:body that names ${what}`, (t) => {
    const operation = {
      name: 'Get',
      input,
      bound: literal.replace('<soap:body', `<soap:body parts="${parts}"`),
    };
    const wsdl = wsdlOf(
      `${portType('P', [operation])}${binding('P', [operation])}<w:service name="S">${port('P')}</w:service>`,
    );
    const { service, warnings: told } = load(t, { 'service.wsdl': wsdl });
    t.deepEqual(
      service.operations.map((one) => bodyOf(one.input)),
      [body],
    );
    t.deepEqual(
      told.map(({ message: its }) => its),
      [...warnings],
    );
  });
}

test('A8: declared header blocks are known in both directions, and not part of the body', (t) => {
  const header = '<soap:header message="t:session" part="session" use="literal"/>';
  const { operations } = served(t, [
    {
      name: 'Get',
      input: 'session',
      output: 'a',
      bound: `<w:input>${header}<soap:body use="literal"/></w:input><w:output><soap:body use="literal"/>${header}</w:output>`,
    },
  ]);
  const [{ input, output } = {}] = operations;
  t.is(input && bodyOf(input), 'A');
  t.deepEqual(input?.headers.map(nameOf), ['Session']);
  t.deepEqual(output?.headers.map(nameOf), ['Session']);
});

test('A9: an operation without output is one-way; one that starts with output is not served', (t) => {
  const { operations, notServed } = served(t, [
    { name: 'Tell', input: 'a' },
    { name: 'Told', output: 'a' },
  ]);
  t.deepEqual(
    operations.map(({ name, output }) => [name, output]),
    [['Tell', undefined]],
  );
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'P.Told', reason: 'a notification, which the service sends first' },
  ]);
});

test('A29: declared faults have the element of their message and the name of the port type', (t) => {
  const { operations } = served(t, [
    { name: 'Get', input: 'a', faults: '<w:fault name="GoneFault" message="t:gone"/>' },
  ]);
  t.deepEqual(
    operations[0]?.faults.map(({ name, element, use }) => [name, nameOf(element), use]),
    [['GoneFault', 'Gone', 'literal']],
  );
});

test('A30: an rpc body is a wrapper in the namespace of soap:body with one element per part', (t) => {
  const body = '<soap:body use="encoded" namespace="urn:rpc"/>';
  const { operations } = served(
    t,
    [
      {
        name: 'Add',
        input: 'call',
        output: 'call',
        bound: `<w:input>${body}</w:input><w:output>${body}</w:output>`,
      },
    ],
    'style="rpc"',
  );
  const [{ style, input, output } = {}] = operations;
  t.is(style, 'rpc');
  t.is(input?.use, 'encoded');
  t.is(input && bodyOf(input), '{urn:rpc}Add({}n int, {}s string)');
  t.is(output && bodyOf(output), '{urn:rpc}AddResponse({}n int, {}s string)');
});

test('A31: a MIME binding is not served, and is listed', (t) => {
  const mime = '<w:input><m:multipartRelated xmlns:m="http://schemas.xmlsoap.org/wsdl/mime/"/></w:input>';
  const { notServed } = served(t, [{ name: 'Send', input: 'a', bound: mime }]);
  t.deepEqual(notServed.map(reasonOf), [{ name: 'P.Send', reason: 'its MIME binding is not supported' }]);
});

test('A31: policies of a binding, its operations and messages are read', (t) => {
  const policies = `<p:Policy xmlns:p="http://www.w3.org/ns/ws-policy" xmlns:sp="urn:sp" xmlns:u="urn:u" u:Id="all"><p:ExactlyOne><p:All>
    <sp:TransportBinding><p:Policy><sp:TransportToken><p:Policy><sp:HttpsToken/></p:Policy></sp:TransportToken></p:Policy></sp:TransportBinding>
    <sp:SignedSupportingTokens><p:Policy><sp:UsernameToken/></p:Policy></sp:SignedSupportingTokens><sp:X509Token/><sp:Addressing/>
    </p:All></p:ExactlyOne></p:Policy>`;
  const reference = '<p:PolicyReference xmlns:p="http://www.w3.org/ns/ws-policy" URI="#all"/>';
  const mtom =
    '<p:Policy xmlns:p="http://www.w3.org/ns/ws-policy"><o:OptimizedMimeSerialization xmlns:o="urn:o" p:Optional="true"/></p:Policy>';
  const digest =
    '<p:Policy xmlns:p="http://www.w3.org/ns/ws-policy" xmlns:sp="urn:sp"><sp:UsernameToken><p:Policy><sp:HashPassword/></p:Policy></sp:UsernameToken></p:Policy>';
  const operations = [
    { name: 'Get', input: 'a', bound: `${mtom}<w:input>${digest}<soap:body use="literal"/></w:input>` },
  ];
  const bound = binding('P', operations).replace('<soap:binding', `${reference}<soap:binding`);
  const service = serviceOf(
    t,
    wsdlOf(`${policies}${portType('P', operations)}${bound}<w:service name="S">${port('P')}</w:service>`),
  );
  t.deepEqual(
    service.policies.map(({ text, kind, served: met }) => [text, kind, met]),
    [
      ['binding PBinding: TransportBinding', 'other', true],
      ['binding PBinding: UsernameToken', 'usernameToken', true],
      ['binding PBinding: X509Token', 'other', false],
      ['binding PBinding: Addressing', 'addressing', true],
      ['binding PBinding, operation Get: OptimizedMimeSerialization, which is optional', 'mtom', true],
      ['binding PBinding, operation Get, input: UsernameToken with a digest of the password', 'other', false],
    ],
  );
});

const two = (first: string, second: string): string =>
  definitionsOf(
    schemaOf('<xs:complexType name="Address"/>', `targetNamespace="${first}"`) +
      schemaOf('<xs:complexType name="Address"/>', `targetNamespace="${second}"`),
    '',
  );

test('A19: of types with one name the first by namespace keeps it, the others get a CRC-32 suffix', (t) => {
  const { types, typeNames } = serviceOf(t, two('urn:b', 'urn:a'));
  t.deepEqual(
    [...types].map(([key, type]) => [key, typeNames.get(type)]),
    [
      ['{urn:b}Address', 'Address_c892'],
      ['{urn:a}Address', 'Address'],
    ],
  );
});

test('A19: names.lock keeps the names of types and operations', (t) => {
  const before = serviceOf(
    t,
    definitionsOf(schemaOf('<xs:complexType name="Address"/>', 'targetNamespace="urn:b"'), ''),
  );
  const lock = writeNamesLock({ ...adoptedNames(before), operations: new Map([['P.Get', 'Fetch']]) });
  t.true(lock.includes('"{urn:b}Address": "Address"'));
  const operation = { name: 'Get', input: 'a' };
  const wsdl = two('urn:b', 'urn:a').replace(
    '</w:types>',
    `${schemaOf(elements)}</w:types>${messages}${portType('P', [operation])}${binding('P', [operation])}<w:service name="S">${port('P')}</w:service>`,
  );
  const { service } = load(t, { 'service.wsdl': wsdl, 'names.lock': lock });
  t.deepEqual(
    [...service.types].map(([key, type]) => [key, service.typeNames.get(type)]),
    [
      ['{urn:b}Address', 'Address'],
      ['{urn:a}Address', 'Address_9928'],
    ],
  );
  t.deepEqual(
    service.operations.map(({ name }) => name),
    ['Fetch'],
  );
  t.regex(
    problemsOf(t, { 'service.wsdl': wsdl, 'names.lock': '{"operations": 3}' })[0] ?? '',
    /^names\.lock/,
  );
});

test('definitions in several files are one service; a wrong namespace is tolerated', (t) => {
  const operation = { name: 'Get', input: 'a' };
  const { service, warnings } = load(t, {
    'service.wsdl': definitionsOf(
      '',
      `${binding('P', [operation])}<w:service name="S">${port('P')}</w:service>`,
    ).replace('<w:types>', '<w:import namespace="urn:v" location="types.wsdl"/><w:types>'),
    'types.wsdl': wsdlOf(portType('P', [operation]))
      .replace('targetNamespace="urn:t">', 'targetNamespace="urn:v">')
      .replaceAll('message="t:', 'xmlns:v="urn:v" message="v:'),
  });
  t.deepEqual(
    service.operations.map(({ name }) => name),
    ['Get'],
  );
  t.deepEqual(
    warnings.map(({ message: its }) => its),
    ['the portType P is not in "urn:t"; the only one, in "urn:v", is used'],
  );
});

for (const [what, wsdl, problem] of [
  ['a port type', binding('P', []), 'expected the portType P in "urn:t", got none'],
  [
    'a message',
    portType('P', [{ name: 'Get', input: 'missing' }]) + binding('P', [{ name: 'Get' }]),
    'expected the message missing in "urn:t", got none',
  ],
  [
    'an operation of the port type',
    portType('P', []) + binding('P', [{ name: 'Get' }]),
    'expected an operation of the port type P, got Get',
  ],
  [
    'a binding',
    `<w:service name="S">${port('P')}</w:service>`,
    'expected the binding PBinding in "urn:t", got none',
  ],
  [
    'an element',
    message('x', 'name="p" element="t:X"') +
      portType('P', [{ name: 'Get', input: 'x' }]) +
      binding('P', [{ name: 'Get' }]),
    'expected the element X in "urn:t", got none; 1 operation reaches it',
  ],
  [
    'another than the second of a name',
    portType('P', []) + portType('P', []),
    'expected one portType "P", got another portType',
  ],
] as const) {
  test(`wrong services: missing ${what} is reported with its line`, (t) => {
    t.deepEqual(problemsOf(t, { 'service.wsdl': `\n\n${wsdlOf(wsdl)}` }), [`service.wsdl:3#: ${problem}`]);
  });
}

/** Returns a WSDL of two operations, `Whole` and another one, with a port for both. */
function partial(other: Written, more = '', schemas = schemaOf(elements), ports = port('P')): string {
  const operations = [{ name: 'Whole', input: 'a', output: 'b' }, other];
  const rest = `${messages}${more}${portType('P', operations)}${binding('P', operations)}<w:service name="S">${ports}</w:service>`;
  return `\n${definitionsOf(schemas, rest)}`;
}

const header = (named: string, part = 'session'): string =>
  `<w:input><soap:header message="t:${named}" part="${part}" use="literal"/><soap:body use="literal"/></w:input>`;
const typed = message('x', 'name="p" element="t:X"');
const x = (content: string, declarations = ''): string =>
  schemaOf(
    `${elements}<xs:element name="X"><xs:complexType>${content}</xs:complexType></xs:element>${declarations}`,
  );

for (const [what, other, more, schemas, reason] of [
  ['a message', { input: 'no' }, '', undefined, 'expected the message no in "urn:t", got none'],
  [
    'the message of its output',
    { input: 'a', output: 'no' },
    '',
    undefined,
    'expected the message no in "urn:t", got none',
  ],
  ['an element', { input: 'x' }, typed, undefined, 'expected the element X in "urn:t", got none'],
  [
    'the message of a header',
    { input: 'a', bound: header('no') },
    '',
    undefined,
    'expected the message no in "urn:t", got none',
  ],
  [
    'the part of a header',
    { input: 'a', bound: header('session', 'no') },
    '',
    undefined,
    'expected the part no in the message session, got none',
  ],
  [
    'the message of a fault',
    { input: 'a', faults: '<w:fault name="F" message="t:no"/>' },
    '',
    undefined,
    'expected the message no in "urn:t", got none',
  ],
  [
    'one message of a name',
    { input: 'x' },
    message('x', 'name="p" element="t:A"') + message('x', 'name="p" element="t:B"'),
    undefined,
    'expected one message "x", got another message',
  ],
  [
    'the type of a member',
    { input: 'x' },
    typed,
    x('<xs:sequence><xs:element name="a" type="t:No"/></xs:sequence>'),
    'expected the type No in "urn:t", got none',
  ],
  [
    'the base of a simple type',
    { input: 'x' },
    typed,
    x(
      '<xs:attribute name="a" type="t:S"/>',
      '<xs:simpleType name="S"><xs:restriction base="t:No"/></xs:simpleType>',
    ),
    'expected the type No in "urn:t", got none',
  ],
  [
    'the base of its base',
    { input: 'x' },
    typed,
    x(
      '<xs:sequence><xs:element name="a" type="t:D"/></xs:sequence>',
      '<xs:complexType name="C"><xs:complexContent><xs:extension base="t:No"/></xs:complexContent></xs:complexType><xs:complexType name="D"><xs:complexContent><xs:extension base="t:C"/></xs:complexContent></xs:complexType>',
    ),
    'expected the type No in "urn:t", got none',
  ],
  [
    'an attribute',
    { input: 'x' },
    typed,
    x('<xs:attribute ref="t:no"/>'),
    'expected the attribute no in "urn:t", got none',
  ],
  [
    'a well-formed occurrence',
    { input: 'x' },
    typed,
    x('<xs:sequence><xs:element name="a" maxOccurs="many"/></xs:sequence>'),
    'expected maxOccurs as a number, got "many"',
  ],
  [
    'one type of a name',
    { input: 'x' },
    typed,
    x(
      '<xs:sequence><xs:element name="a" type="t:C"/></xs:sequence>',
      '<xs:complexType name="C"/><xs:simpleType name="C"><xs:restriction base="xs:int"/></xs:simpleType>',
    ),
    'expected one type C in "urn:t", got another type',
  ],
  [
    'one attribute group of a name',
    { input: 'x' },
    typed,
    x(
      '<xs:attributeGroup ref="t:G"/>',
      '<xs:attributeGroup name="G"/><xs:attributeGroup name="G"><xs:attribute name="a"/></xs:attributeGroup>',
    ),
    'expected one attributeGroup G in "urn:t", got another attributeGroup',
  ],
  [
    'a type of an import that is not followed',
    { input: 'x' },
    typed,
    x('<xs:sequence><xs:element name="a" type="u:T" xmlns:u="urn:u"/></xs:sequence>').replace(
      elements,
      `<xs:import namespace="urn:u" schemaLocation="https://far.example/u.xsd"/>${elements}`,
    ),
    'expected the type T in "urn:u", got none',
  ],
] as const) {
  test(`A2: an operation that lacks ${what} is not served, and the others are`, (t) => {
    const wsdl = partial({ name: 'Other', ...other }, more, schemas);
    const { service } = load(t, { 'service.wsdl': wsdl });
    t.deepEqual(
      service.operations.map(({ name }) => name),
      ['Whole'],
    );
    t.deepEqual(service.notServed, [{ name: 'P.Other', reason, file: 'service.wsdl', line: 2 }]);
    t.deepEqual(
      service.ports.map(({ operations }) => operations.length),
      [1],
    );
  });
}

test('A2: no operation that uses an invalid group is served', (t) => {
  const group = '<xs:group name="G"><xs:sequence><xs:element ref="t:No"/></xs:sequence></xs:group>';
  const inner = '<xs:group name="H"><xs:sequence><xs:group ref="t:G"/></xs:sequence></xs:group>';
  const declared = ['X', 'Y'].map(
    (name) =>
      `<xs:element name="${name}"><xs:complexType><xs:group ref="t:${name === 'X' ? 'G' : 'H'}"/></xs:complexType></xs:element>`,
  );
  const wsdl = partial(
    { name: 'Other', input: 'x', output: 'y' },
    typed + message('y', 'name="p" element="t:Y"'),
    schemaOf(elements + group + inner + declared.join('')),
  );
  for (const swapped of [wsdl, wsdl.replace('t:x', 't:a'), wsdl.replace('t:y', 't:a')]) {
    const { service } = load(t, { 'service.wsdl': swapped });
    t.deepEqual(
      service.notServed.map(({ name, reason }) => [name, reason]),
      [['P.Other', 'expected the element No in "urn:t", got none']],
    );
  }
});

test('A2: an error in a derived type affects no operation of other types with the same base', (t) => {
  const derived = (name: string, content = ''): string =>
    `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="t:Base">${content}</xs:extension></xs:complexContent></xs:complexType>`;
  const schema = schemaOf(
    `${elements}<xs:element name="X" type="t:Fine"/><xs:element name="Y" type="t:Base"/><xs:complexType name="Base"/>${derived('Fine')}${derived('Bad', '<xs:sequence><xs:element ref="t:No"/></xs:sequence>')}`,
  );
  const fine = load(t, { 'service.wsdl': partial({ name: 'Other', input: 'x' }, typed, schema) });
  t.deepEqual(fine.service.notServed, []);
  t.deepEqual(
    fine.warnings.map(({ message: its }) => its),
    ['expected the element No in "urn:t", got none; no operations reach it'],
  );
  const base = message('x', 'name="p" element="t:Y"');
  const { notServed } = load(t, {
    'service.wsdl': partial({ name: 'Other', input: 'x' }, base, schema),
  }).service;
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'P.Other', reason: 'expected the element No in "urn:t", got none' },
  ]);
});

test('A2: an import, include or redefine that no operation needs is a warning', (t) => {
  const directives = [
    '<xs:import namespace="urn:u" schemaLocation="https://far.example/u.xsd"/>',
    '<xs:import namespace="urn:u" schemaLocation="gone.xsd"/>',
    '<xs:include schemaLocation="gone.xsd"/>',
    '<xs:redefine schemaLocation="gone.xsd"/>',
    '<xs:include schemaLocation="other.xsd"/>',
    '<xs:import namespace="urn:u" schemaLocation="wrong.xsd"/>',
    '<xs:import namespace="urn:u" schemaLocation="../u.xsd"/>',
  ];
  for (const directive of directives) {
    const { service, warnings } = load(t, {
      'service.wsdl': partial({ name: 'Other', input: 'b' }, '', schemaOf(directive + elements)),
      'other.xsd': schemaOf('', 'targetNamespace="urn:v"'),
      'wrong.xsd': '<not-xml',
    });
    t.is(service.operations.length, 2, directive);
    t.true(
      warnings.some(({ line, message: its }) => line === 2 && its.includes('no operations reach')),
      directive,
    );
  }
  const wsdl = partial({ name: 'Other', input: 'b' }).replace(
    '<w:types>',
    '<w:import namespace="urn:v" location="gone.wsdl"/><w:types>',
  );
  t.is(load(t, { 'service.wsdl': wsdl }).service.operations.length, 2);
});

test('A2: an invalid port or binding is not served, and the others are', (t) => {
  const bad = port('Bad').replace('t:BadBinding', 't:No');
  const lost = binding('No', []).replace('NoBinding', 'LostBinding');
  const wsdl = partial({ name: 'Other', input: 'b' }, lost, undefined, `${bad}${port('Lost')}${port('P')}`);
  const { ports, notServed } = serviceOf(t, wsdl);
  t.deepEqual(
    ports.map(({ name }) => name),
    ['PPort'],
  );
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'LostBinding', reason: 'expected the portType No in "urn:t", got none' },
    { name: 'BadPort', reason: 'expected the binding No in "urn:t", got none' },
    { name: 'LostPort', reason: 'a port without a SOAP binding and address' },
  ]);
});

test('A2: a port without remaining operations is not served, and keeps its address', (t) => {
  const second = portType('Q', [{ name: 'Bad', input: 'x' }]) + binding('Q', [{ name: 'Bad' }]);
  const wsdl = partial(
    { name: 'Other', input: 'b' },
    typed + second,
    undefined,
    port('P') + port('Q'),
  ).replace('schema ', 'schema xmlns:q="urn:q" ');
  const { ports, notServed, documents } = serviceOf(t, wsdl);
  t.deepEqual(
    ports.map(({ name }) => name),
    ['PPort'],
  );
  t.deepEqual(
    notServed.map(({ name }) => name),
    ['Q.Bad', 'QPort'],
  );
  t.deepEqual(
    documents[0]?.places.flatMap((place) => (place.kind === 'address' ? [place.port] : [])),
    ['PPort'],
  );
});

test('A4: an operation that one binding cannot serve is served by another one', (t) => {
  const operation = { name: 'Get', input: 'a' };
  const bad = binding('P', [{ ...operation, action: 'urn:bad', bound: header('no') }]).replace(
    'PBinding',
    'BadBinding',
  );
  const { operations, ports, notServed } = serviceOf(
    t,
    wsdlOf(
      `${portType('P', [operation])}${bad}${binding('P', [{ ...operation, action: 'urn:good' }])}<w:service name="S">${port('Bad')}${port('P')}</w:service>`,
    ),
  );
  t.deepEqual(
    operations.map(({ name, actions }) => [name, actions]),
    [['Get', ['urn:good']]],
  );
  t.deepEqual(
    ports.map(({ name, operations: its }) => [name, its.length]),
    [['PPort', 1]],
  );
  t.deepEqual(notServed.map(reasonOf), [
    { name: 'BadBinding: P.Get', reason: 'expected the message no in "urn:t", got none' },
    { name: 'BadPort', reason: 'a port without a served operation' },
  ]);
});
