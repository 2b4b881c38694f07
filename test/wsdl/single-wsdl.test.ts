import test, { type ExecutionContext } from 'ava';
import { expanded } from '../../mappings/contract/type-graph.ts';
import { writeSingle } from '../../wsdl/adopted.ts';
import { definitionsOf, type Files, get, load, schemaOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

const links = {
  addressOf: (port: string) => `http://new.example/${port}`,
  locationOf: () => 'http://new.example/not-single',
};

type Service = ReturnType<typeof load>['service'];

/** The properties of a service that clients depend on. */
const shapeOf = ({ operations, ports, elements, types, notServed }: Service) => ({
  operations: operations.map(({ name, wsdlName, portType, style, actions, input, output, faults }) => ({
    name,
    wsdlName,
    portType,
    style,
    actions,
    body: input.body,
    headers: input.headers,
    output,
    // a single WSDL declares values that are defaults in separate documents
    faults: faults.map(({ action, ...fault }) => ({ ...fault, action: action.declared ?? action.default })),
  })),
  ports: ports.map(({ name, path, soap }) => [name, path, soap]),
  elements: [...elements.values()].map(({ name }) => expanded(name)).toSorted(),
  types: [...types.keys()].toSorted(),
  notServed,
});

/** Writes the single WSDL of some documents, and checks that it describes the same service. */
function checkSingle(t: ExecutionContext, files: Files): string {
  const { service } = load(t, files);
  if (service.single === undefined) throw new Error('expected documents with imports');
  const text = Buffer.from(writeSingle(service.single, links)).toString();
  const again = load(t, { 'service.wsdl': text });
  t.is(again.service.documents.length, 1);
  t.deepEqual(again.warnings, []);
  const { ports, ...rest } = shapeOf(service);
  const { ports: newPorts, ...newRest } = shapeOf(again.service);
  t.deepEqual(newRest, rest);
  t.deepEqual(
    newPorts,
    ports.map(([name, , soap]) => [name, `/${name}`, soap]),
  );
  return text;
}

const element = '<xs:element name="Get" type="xs:int"/>';
const parts = (pattern: RegExp): string => pattern.exec(get)?.[0] ?? '';
const binding = parts(/<w:binding.*<\/w:binding>/);
const services = parts(/<w:service.*<\/w:service>/);
const messages = get.replace(/<w:binding.*/, '');

test('A2: a single WSDL has the definitions of parts with other namespaces in its own namespace', (t) => {
  const text = checkSingle(t, {
    'service.wsdl': `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:b="urn:b" targetNamespace="urn:s"><w:documentation>The words.</w:documentation><w:import namespace="urn:b" location="parts/b.wsdl"/>${services.replace('t:B', 'b:B')}</w:definitions>`,
    'parts/b.wsdl': `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:m="urn:t" targetNamespace="urn:b"><w:import namespace="urn:t" location="m.wsdl"/>${binding.replace('t:P', 'm:P')}</w:definitions>`,
    'parts/m.wsdl': definitionsOf(schemaOf(element), messages),
  });
  t.regex(text, /The words\./);
  t.regex(text, /<w:definitions [^>]*targetNamespace="urn:s"/);
  t.is(text.match(/targetNamespace="urn:t"/g)?.length, 1, 'of the schema');
});

test('A2: a single WSDL renames definitions of one name and two namespaces', (t) => {
  const other = (text: string): string => text.replaceAll('urn:t', 'urn:u').replaceAll('Things', 'Others');
  const text = checkSingle(t, {
    'service.wsdl': definitionsOf(schemaOf(element), `<w:import namespace="urn:u" location="u.wsdl"/>${get}`),
    'u.wsdl': other(
      definitionsOf(schemaOf('<xs:element name="Put" type="xs:int"/>'), get.replaceAll('Get', 'Put')),
    )
      // the single WSDL renames the port type that a service refers to
      .replaceAll('"P"', '"Q"')
      .replaceAll('t:P"', 't:Q"'),
  });
  t.regex(text, /<w:message [^>]*name="in_1"/);
  t.regex(text, /<w:binding [^>]*name="B_1"/);
  t.regex(text, /message="tns:in_1"/);
});

test('A2: a single WSDL keeps headers, faults and a second port', (t) => {
  const headed = get
    .replace('</w:message>', '<w:part name="h" element="t:Head"/></w:message>')
    .replace(
      '<soap:body use="literal"/></w:input>',
      '<soap:header message="t:in" part="h" use="literal"/><soap:body use="literal" parts="p"/></w:input>',
    )
    .replace('</w:portType>', '</w:portType><w:portType name="Empty"/>')
    .replace(
      '<w:message name="out">',
      '<w:message name="bad"><w:part name="f" element="t:Bad"/></w:message><w:message name="out">',
    )
    .replace(
      '<w:output message="t:out"/>',
      '<w:output message="t:out"/><w:fault name="bad" message="t:bad"/>',
    )
    .replace(
      '</w:output></w:operation></w:binding>',
      '</w:output><w:fault name="bad"><soap:fault name="bad" use="literal"/></w:fault></w:operation></w:binding>',
    );
  const elements = `${element}<xs:element name="Head" type="xs:int"/><xs:element name="Bad" type="xs:int"/>`;
  checkSingle(t, {
    'service.wsdl': `<w:definitions xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:t="urn:t" targetNamespace="urn:s"><w:import namespace="urn:t" location="t.wsdl"/>${services}</w:definitions>`,
    't.wsdl': definitionsOf(schemaOf(elements), headed.replace(services, '')),
  });
});

for (const [name, included] of [
  [
    'no default namespace',
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"><xs:element name="Get" type="Id"/><xs:simpleType name="Id"><xs:restriction base="xs:string"/></xs:simpleType></xs:schema>',
  ],
  [
    'XML Schema as the default namespace',
    '<schema xmlns="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified"><element name="Get" type="string"/></schema>',
  ],
] as const)
  test(`A2: a single WSDL has an included schema with the namespace of its includer: ${name}`, (t) => {
    const text = checkSingle(t, {
      'service.wsdl': definitionsOf(schemaOf('<xs:include schemaLocation="i.xsd"/>'), get),
      'i.xsd': included,
    });
    t.notRegex(text, /include/);
    t.is(text.match(/<(?:xs:)?schema /g)?.length, 2);
  });

test('A2: a single WSDL keeps the default namespaces of the parts apart', (t) => {
  const plain = definitionsOf(schemaOf('<xs:include schemaLocation="i.xsd"/>'), get)
    .replaceAll('w:', '')
    .replace('xmlns:w=', 'xmlns=')
    .replace('http://schemas.xmlsoap.org/wsdl/"', 'http://schemas.xmlsoap.org/wsdl/"');
  const text = checkSingle(t, {
    'service.wsdl': plain,
    'i.xsd': schemaOf(
      '<xs:element name="Get" type="Id"/><xs:simpleType name="Id"><xs:restriction base="xs:string"/></xs:simpleType>',
      '',
    ),
  });
  t.regex(text, /xmlns="urn:t"[^>]* targetNamespace="urn:t"/);
});

test('A2: a single WSDL is in UTF-8 whatever the encodings of the parts', (t) => {
  const words = (text: string): string =>
    `<xs:annotation><xs:documentation>${text}</xs:documentation></xs:annotation>`;
  const text = checkSingle(t, {
    'service.wsdl': Buffer.from(
      `\ufeff${definitionsOf(schemaOf(`${words('Größe 😀')}<xs:include schemaLocation="a.xsd"/>`), get)}`,
      'utf16le',
    ),
    'a.xsd': Buffer.from(
      `<?xml version="1.0" encoding="ISO-8859-1"?>${schemaOf(`${words('Maß')}<xs:include schemaLocation="b.xsd"/>${element}`)}`,
      'latin1',
    ),
    'b.xsd': `\ufeff${schemaOf(words('€'))}`,
  });
  for (const word of ['Größe 😀', 'Maß', '€']) t.true(text.includes(word), word);
  t.false(text.includes('\ufeff'));
  t.true(text.startsWith('<?xml version="1.0" encoding="utf-8"?>\n'));
});

for (const location of ['http://www.w3.org/2005/08/addressing/ws-addr.xsd', 'ws-addr.xsd'])
  test(`A2: a single WSDL has the built-in schema of an import from ${location}`, (t) => {
    const namespace = 'http://www.w3.org/2005/08/addressing';
    const content = `<xs:import namespace="${namespace}" schemaLocation="${location}"/><xs:import namespace="http://www.w3.org/2001/04/xmlenc#" schemaLocation="http://www.w3.org/xenc.xsd"/><xs:element name="Get" type="a:EndpointReferenceType"/>`;
    const { service } = load(t, {
      'service.wsdl': definitionsOf(schemaOf(content, `targetNamespace="urn:t" xmlns:a="${namespace}"`), get),
    });
    const text = Buffer.from(writeSingle(service.single ?? [], links)).toString();
    t.notRegex(text, /schemaLocation/);
    for (const held of [namespace, 'http://www.w3.org/2001/04/xmlenc#', 'http://www.w3.org/2000/09/xmldsig#'])
      t.is(text.split(`targetNamespace="${held}"`).length, 2, held);
    t.deepEqual(load(t, { 'service.wsdl': text }).warnings, []);
  });

test('A2: a WSDL without imports equals its single WSDL', (t) => {
  t.is(load(t, { 'service.wsdl': definitionsOf(schemaOf(element), get) }).service.single, undefined);
});
