import test, { type ExecutionContext } from 'ava';
import { definitionsOf, folderOf, get, schemaOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { envelope, type Gateway, keyHeaders, send, sharedGateway, startGateway } from '../gateway.ts';

// The paths that SOAP clients call.

const shared = await sharedGateway();

for (const path of [
  '/v2//soap11',
  '//v2/soap11',
  '//v2//soap12//',
  '/v2/soap11;jsessionid=0A1B.node1',
  '/v2;jsessionid=1/soap11',
  '/v2/SOAP12;JSESSIONID=1/',
])
  test(`W40: a SOAP endpoint answers at ${path}`, async (t) => {
    const reply = await send(shared.port, 'POST', path, keyHeaders, envelope('1.1'));
    t.is(reply.status, 200);
    t.regex(reply.text, /GetSearchResponse/);
    const wsdl = await send(shared.port, 'GET', `${path}?wsdl`);
    t.regex(wsdl.text, /<wsdl:definitions/);
  });

for (const path of [
  '/v2//json/reply/GetSearch',
  '/v2/json/reply/GetSearch;jsessionid=1',
  '/v2/xml//reply/GetSearch',
])
  test(`W40: no JSON or XML endpoint is served at ${path}`, async (t) => {
    t.is((await send(shared.port, 'POST', path, { 'Content-Type': 'application/json' }, '{}')).status, 404);
  });

for (const path of ['/v2/nothing', '/v2/soap13', '/elsewhere', '/v2/soap11/more', '/v2//nothing'])
  for (const [name, headers, version] of [
    [
      'SOAP 1.1',
      { 'Content-Type': 'text/xml', SOAPAction: '""' },
      'http://schemas.xmlsoap.org/soap/envelope/',
    ],
    [
      'SOAP 1.2',
      { 'Content-Type': 'application/soap+xml; action="x"' },
      'http://www.w3.org/2003/05/soap-envelope',
    ],
  ] as const)
    test(`W44: a call of ${name} at the unknown path ${path} gets a fault of its version`, async (t) => {
      const reply = await send(
        shared.port,
        'POST',
        path,
        headers,
        envelope(name === 'SOAP 1.1' ? '1.1' : '1.2'),
      );
      t.is(reply.headers['x-status'], '404');
      t.true(reply.text.includes(`<s:Envelope xmlns:s="${version}">`));
      t.regex(reply.text, /unknown path/);
    });

test('W44: a SOAP call at the base path gets a fault with 405 in X-Status', async (t) => {
  for (const path of ['/v2', '/v2/']) {
    const reply = await send(shared.port, 'POST', path, { SOAPAction: '""' }, envelope('1.1'));
    t.is(reply.headers['x-status'], '405');
    t.regex(reply.text, /expected one of GET, HEAD, OPTIONS/);
  }
});

test('W44: a JSON request at an unknown path is 404 in JSON', async (t) => {
  const reply = await send(shared.port, 'POST', '/v2/nothing', { 'Content-Type': 'application/json' }, '{}');
  t.is(reply.status, 404);
  t.regex(String(reply.headers['content-type']), /application\/json/);
});

/** A gateway for a WSDL with ports of these SOAP versions. */
function serveVersions(t: ExecutionContext, versions: readonly ('1.1' | '1.2')[]): Promise<Gateway> {
  const binding = /<w:binding.*<\/w:binding>/.exec(get)?.[0] ?? '';
  const port = /<w:port name.*<\/w:port>/.exec(get)?.[0] ?? '';
  const as = (text: string, version: string): string =>
    version === '1.1'
      ? text
      : text
          .replaceAll('soap:', 'soap12:')
          .replaceAll('"B"', '"B12"')
          .replaceAll('t:B', 't:B12')
          .replaceAll('ThingsSoap', 'ThingsSoap12');
  const rest = get
    .replace(binding, versions.map((version) => as(binding, version)).join(''))
    .replace(port, versions.map((version) => as(port, version)).join(''));
  const attributes = 'targetNamespace="urn:t" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/"';
  const wsdl = definitionsOf(schemaOf('<xs:element name="Get" type="xs:int"/>'), rest, attributes);
  return startGateway(t, { serve: { contract: folderOf(t, { 'service.wsdl': wsdl }) } });
}

for (const [versions, served] of [
  [['1.1'], { '/soap11': true, '/soap12': false }],
  [['1.2'], { '/soap11': false, '/soap12': true }],
  [['1.1', '1.2'], { '/soap11': true, '/soap12': true }],
] as const)
  test(`A5: a WSDL with ports of SOAP ${versions.join(' and ')} is called at the paths of these versions`, async (t) => {
    const { port } = await serveVersions(t, versions);
    const body = envelope('1.1', { body: '<Get xmlns="urn:t">1</Get>' });
    const isServed = async (path: string): Promise<boolean> => {
      const { headers } = await send(port, 'POST', path, { SOAPAction: '""' }, body);
      return !['404', '405'].includes(String(headers['x-status']));
    };
    for (const [path, expected] of Object.entries(served)) t.is(await isServed(path), expected, path);
    t.true(await isServed('/Things.asmx'));
  });
