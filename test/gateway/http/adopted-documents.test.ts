import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../../console/server/pages.ts';
import {
  definitionsOf,
  type Files,
  folderOf,
  get,
  load,
  schemaOf,
} from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { type Reply, send as sendTo, startGateway } from '../gateway.ts';

// The documents of an imported WSDL as clients load them over HTTP.

type Send = (path: string, headers?: Record<string, string>, method?: string) => Promise<Reply>;

/** Starts a gateway with pages for a folder with these files. */
async function serveFiles(
  t: ExecutionContext,
  files: Files,
): Promise<{ readonly port: number; readonly send: Send }> {
  const { port } = await startGateway(t, { serve: { contract: folderOf(t, files), pages: createPages } });
  return { port, send: (path, headers = {}, method = 'GET') => sendTo(port, method, path, headers) };
}

const element = '<xs:element name="Get" type="xs:int"/>';
const importing = definitionsOf(
  schemaOf('<xs:import namespace="urn:t" schemaLocation="a.xsd"/>', 'targetNamespace="urn:m"'),
  get,
);

for (const [encoding, declaration, encode, charset] of [
  ['UTF-8', '<?xml version="1.0"?>', (text: string) => Buffer.from(text), 'utf-8'],
  [
    'ISO-8859-1',
    '<?xml version="1.0" encoding="ISO-8859-1"?>',
    (text: string) => Buffer.from(text, 'latin1'),
    'iso-8859-1',
  ],
  [
    'Windows-1252',
    '<?xml version="1.0" encoding="Windows-1252"?>',
    (text: string) => Buffer.from(text, 'latin1'),
    'windows-1252',
  ],
  [
    'UTF-16',
    '\ufeff<?xml version="1.0" encoding="utf-16"?>',
    (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16',
  ],
  [
    'UTF-16 without a byte order mark',
    '<?xml version="1.0" encoding="utf-16"?>',
    (text: string) => Buffer.from(text, 'utf16le'),
    'utf-16le',
  ],
] as const)
  test(`A1: Content-Type has the charset of the document, for a WSDL and a schema in ${encoding}`, async (t) => {
    const schema = schemaOf(`<!-- Größe -->${element}`);
    const { send } = await serveFiles(t, {
      'service.wsdl': encode(declaration + importing),
      'a.xsd': encode(declaration + schema),
    });
    for (const path of ['/Things.asmx?wsdl', '/Things.asmx', '/?wsdl', '/soap11?wsdl', '/Things.asmx?xsd=0'])
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await send(path, {}, method);
        t.is(headers['content-type'], `text/xml; charset=${charset}`, path);
      }
  });

/** The WSDL of the operation `Get` in two parts, as WCF writes it, with a separate schema file. */
const binding = /<w:binding.*<\/w:binding>/.exec(get)?.[0] ?? '';
const service = /<w:service.*<\/w:service>/.exec(get)?.[0] ?? '';
const wcf = {
  'service.wsdl': `<?xml version="1.0" encoding="utf-8"?><w:definitions name="Svc" targetNamespace="urn:svc" xmlns:w="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="urn:svc" xmlns:t="urn:t"><w:import namespace="urn:t" location="http://old.example/Things.asmx?wsdl=wsdl0"/>${binding}${service.replace('t:B', 'tns:B')}</w:definitions>`,
  'Svc0.wsdl': definitionsOf(
    schemaOf(
      '<xs:import namespace="urn:t" schemaLocation="http://old.example/Things.asmx?xsd=xsd0"/>',
      'targetNamespace="urn:i"',
    ),
    get.replace(/<w:binding.*/, ''),
  ),
  'xsd0.xsd': schemaOf(element),
};

/** The same operation in several files, as written for CXF and JAX-WS. */
const files = {
  'service.wsdl': definitionsOf(
    schemaOf('<xs:import namespace="urn:t" schemaLocation="xsd/things.xsd"/>', 'targetNamespace="urn:i"'),
    get.replace('/Things.asmx', '/services/Things'),
  ),
  'xsd/things.xsd': schemaOf(`<xs:include schemaLocation="../common/ids.xsd"/>${element}`),
  'common/ids.xsd': schemaOf(
    '<xs:simpleType name="Id"><xs:restriction base="xs:string"/></xs:simpleType>',
    '',
  ),
};

for (const [name, contract, endpoint, locations] of [
  [
    'WCF',
    wcf,
    '/Things.asmx',
    [
      ['?wsdl=wsdl0', 'wsdl=1'],
      ['?WSDL=WSDL0', 'wsdl=1'],
      ['?xsd=xsd0', 'xsd=0'],
      ['?xsd=xsd0.xsd', 'xsd=0'],
    ],
  ],
  [
    'relative files',
    files,
    '/services/Things',
    [
      ['?xsd=xsd/things.xsd', 'xsd=0'],
      ['?xsd=things.xsd', 'xsd=0'],
      ['?xsd=../common/ids.xsd', 'xsd=1'],
      ['?xsd=common/ids.xsd', 'xsd=1'],
      ['/services/xsd/things.xsd', 'xsd=0'],
      ['/services/common/ids.xsd', 'xsd=1'],
    ],
  ],
  [
    'absolute URLs',
    {
      'service.wsdl': importing.replace('"a.xsd"', '"http://old.example/Schemas/My%20Things.xsd"'),
      'a.xsd': schemaOf(element),
    },
    '/Things.asmx',
    [
      ['/Schemas/My%20Things.xsd', 'xsd=0'],
      ['/schemas/my%20things.xsd', 'xsd=0'],
      ['?xsd=a', 'xsd=0'],
    ],
  ],
  [
    'JAX-WS',
    {
      'service.wsdl': importing.replace('"a.xsd"', '"http://old.example/Things?xsd=1"'),
      'a.xsd': schemaOf(element),
    },
    '/Things.asmx',
    [['?xsd=1', 'xsd=1']],
  ],
  [
    'ASMX',
    {
      'service.wsdl': importing.replace('"a.xsd"', '"http://old.example/Things.asmx?schema=Types"'),
      'Types.xsd': schemaOf(element),
    },
    '/Things.asmx',
    [
      ['?schema=Types', 'xsd=0'],
      ['?SCHEMA=types', 'xsd=0'],
      ['?schema=other', 'wsdl'],
      ['?schema=Types&wsdl', 'wsdl'],
    ],
  ],
  [
    'a word beside the number',
    {
      'service.wsdl': importing.replace('"a.xsd"', '"http://old.example/Things.asmx?client=100&amp;xsd=1"'),
      'a.xsd': schemaOf(element),
    },
    '/Things.asmx',
    [
      ['?client=100&xsd=1', 'xsd=1'],
      ['?client=100', 'wsdl'],
      ['?client=100&wsdl', 'wsdl'],
    ],
  ],
] as const)
  test(`A2: a client with a stored WSDL gets the parts by their earlier names: ${name}`, async (t) => {
    const { send } = await serveFiles(t, contract);
    for (const [location, served] of locations) {
      const path = location.startsWith('?') ? endpoint + location : location;
      const expected = await send(`${endpoint}?${served}`);
      t.is(expected.status, 200, served);
      const reply = await send(path);
      t.is(reply.status, 200, path);
      t.is(reply.text, expected.text, path);
      t.is(reply.headers['content-type'], expected.headers['content-type']);
      t.is((await send(path, {}, 'HEAD')).headers.etag, expected.headers.etag);
    }
    for (const missing of ['?xsd=none', '?wsdl=none', '?xsd=7', '?xsd=../../etc/passwd'])
      t.is((await send(endpoint + missing)).status, 404, missing);
  });

test('A2: the path of a document accepts no calls', async (t) => {
  const { port } = await serveFiles(t, files);
  const type = { 'Content-Type': 'application/json' };
  const json = await sendTo(port, 'POST', '/services/xsd/things.xsd', type, '{}');
  t.is(json.status, 405);
  t.is(json.headers.allow, 'GET, HEAD, OPTIONS');
  const soap = await sendTo(port, 'POST', '/services/xsd/things.xsd', { SOAPAction: '""' }, '<a/>');
  t.is(soap.headers['x-status'], '405');
});

for (const [name, contract, endpoint] of [
  ['WCF', wcf, '/Things.asmx'],
  ['relative files', files, '/services/Things'],
] as const)
  test(`A2: ?singleWsdl is one document that describes the same service: ${name}`, async (t) => {
    const { port, send } = await serveFiles(t, contract);
    for (const query of ['?singleWsdl', '?SINGLEWSDL', '?singleWsdl=']) {
      const { status, text, headers } = await send(endpoint + query);
      t.is(status, 200);
      t.is(headers['content-type'], 'text/xml; charset=utf-8');
      t.notRegex(text, /schemaLocation|<w:import|include/);
      t.true(text.includes(`http://127.0.0.1:${port}${endpoint}`));
      t.false(text.includes('old.example'));
      const single = load(t, { 'service.wsdl': text }).service;
      t.deepEqual(
        single.operations.map((operation) => operation.name),
        ['Get'],
      );
      t.is(single.namespace, name === 'WCF' ? 'urn:svc' : 'urn:t');
    }
  });

test('A2: ?singleWsdl of a WSDL without imports is the WSDL', async (t) => {
  const { send } = await serveFiles(t, { 'service.wsdl': definitionsOf(schemaOf(element), get) });
  t.is((await send('/Things.asmx?singleWsdl')).text, (await send('/Things.asmx?wsdl')).text);
});

/** The WSDL of the operation `Get` with a port for each of the protocols. */
function versionsOf(...protocols: readonly ('soap' | 'soap12' | 'http')[]): string {
  const as = (text: string, protocol: string): string =>
    text
      .replaceAll('soap:', `${protocol}:`)
      .replaceAll(/"(?:t:)?B"|ThingsSoap/g, (name) => name.replace(/B|Soap/, (end) => end + protocol));
  const port = /<w:port name.*<\/w:port>/.exec(get)?.[0] ?? '';
  const all = (part: string): string => protocols.map((protocol) => as(part, protocol)).join('');
  const rest = get.replace(binding, all(binding)).replace(port, all(port));
  const attributes =
    'targetNamespace="urn:t" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/" xmlns:http="http://schemas.xmlsoap.org/wsdl/http/"';
  return definitionsOf(schemaOf(element), rest, attributes);
}

const portless = (text: string): string => text.replaceAll(/127\.0\.0\.1:\d+/g, '');

for (const [version, protocol, other] of [
  ['1.1', 'soap', '1.2'],
  ['1.2', 'soap12', '1.1'],
] as const)
  test(`W2: ?wsdl&soap=${version} has only the bindings and ports of SOAP ${version}`, async (t) => {
    const both = await serveFiles(t, { 'service.wsdl': versionsOf('soap', 'soap12', 'http') });
    const one = await serveFiles(t, { 'service.wsdl': versionsOf(protocol) });
    const expected = portless((await one.send('/Things.asmx?wsdl')).text);
    const queries = [`?wsdl&soap=${version}`, `?SOAP=${version}&WSDL`, `?soap=${version}`];
    for (const query of [...queries, `?singleWsdl&soap=${version}`])
      t.is(portless((await both.send(`/Things.asmx${query}`)).text), expected, query);
    t.is(portless((await one.send(`/Things.asmx?wsdl&soap=${version}`)).text), expected);
    const missing = await one.send(`/Things.asmx?wsdl&soap=${other}`);
    t.is(missing.status, 404);
    t.regex(missing.text, /^soap: expected the version of a port of the WSDL, got /);
    for (const wrong of ['', '1', '1.3', '1.1,1.2'])
      t.is((await both.send(`/Things.asmx?wsdl&soap=${wrong}`)).status, 404, wrong);
  });

test('W2: with soap=1.1 a WSDL refers to parts of SOAP 1.1, and a single WSDL has only these', async (t) => {
  const whole = versionsOf('soap', 'soap12');
  const services = /<w:service.*<\/w:service>/.exec(whole)?.[0] ?? '';
  const attributes = 'targetNamespace="urn:t" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"';
  const main = definitionsOf('', services, attributes).replace(
    '<w:types></w:types>',
    '<w:import namespace="urn:t" location="bindings.wsdl"/>',
  );
  const { send } = await serveFiles(t, {
    'service.wsdl': main,
    'bindings.wsdl': whole.replace(services, ''),
  });
  const { text } = await send('/Things.asmx?wsdl&soap=1.1');
  const location = /location="[^"]*\?(wsdl=1[^"]*)"/.exec(text)?.[1]?.replace('&#38;', '&');
  t.is(location, 'wsdl=1&soap=1.1');
  for (const query of [String(location), 'singleWsdl&soap=1.1'])
    t.notRegex((await send(`/Things.asmx?${query}`)).text, /soap12:|Bsoap12/);
  t.notRegex(text, /soap12:|Bsoap12/);
  t.regex((await send('/Things.asmx?wsdl=1')).text, /Bsoap12/);
});

for (const path of [
  '/Things.asmx',
  '/Things.asmx?wsdl',
  '/Things.asmx?WSDL',
  '/Things.asmx?singleWsdl',
  '/Things.asmx?xsd=0',
  '/?wsdl',
]) {
  const accept = { Accept: 'text/html,application/xhtml+xml,application/xml,text/xml;q=0.9,*/*;q=0.8' };
  test(`W2: an imported WSDL is XML for the Accept of node-soap, and a page for a browser: ${path}`, async (t) => {
    const { send } = await serveFiles(t, { 'service.wsdl': importing, 'a.xsd': schemaOf(element) });
    const xml = await send(path, accept);
    t.is(xml.headers['content-type'], 'text/xml; charset=utf-8');
    t.is(xml.headers.vary, 'Sec-Fetch-Dest, Sec-Fetch-Mode');
    const page = await send(path, { ...accept, 'Sec-Fetch-Mode': 'navigate' });
    t.is(page.headers['content-type'], 'text/html; charset=utf-8');
    const raw = /href="([^"]*&amp;raw)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { pathname, search } = new URL(raw, `http://gateway${path}`);
    t.is((await send(pathname + search, { 'Sec-Fetch-Mode': 'navigate' })).text, xml.text);
  });
}
