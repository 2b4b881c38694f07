import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { createClientAsync } from 'soap';
import { start } from '../gateway/commands/run.ts';
import { definitionsOf, folderOf, get, schemaOf } from '../mappings/loader/wsdl/wsdl-folder.ts';

// node-soap and strong-soap load a WSDL with the Accept header of a browser. The gateway runs with the command line's
// defaults, so its pages are enabled.

type Done = (error: Error | null, result: unknown) => void;
type Method = (input: object, done: Done) => void;

/** Methods of a port, as both libraries name them. */
type Services = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Method>>>>>>;

/** The parts of strong-soap that the tests use; the package has no types. */
interface StrongSoap {
  readonly soap: {
    createClient(url: string, options: object, done: (error: Error | null, client: Services) => void): void;
  };
}

const { soap: strongSoap }: StrongSoap = createRequire(import.meta.url)('strong-soap');

const libraries: readonly (readonly [string, (url: string) => Promise<Services>])[] = [
  ['node-soap', async (url) => (await createClientAsync(url, { disableCache: true })) as unknown as Services],
  [
    'strong-soap',
    (url) =>
      new Promise((resolve, reject) => {
        strongSoap.createClient(url, {}, (error, client) =>
          error === null ? resolve(client) : reject(error),
        );
      }),
  ],
];

function call(method: Method | undefined, input: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (method === undefined) reject(new Error('expected the WSDL to have the operation'));
    else method(input, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

/** Starts an upstream that answers every call with the same JSON. */
async function startUpstream(t: ExecutionContext, json: object): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(json));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('node-soap and strong-soap load the WSDL of the default contract by URL and call it', async (t) => {
  const { port } = await start(t);
  const input = { Authentication: { ApiUserId: 'demo', ApiUserKey: 'demo-key' }, Request: { Id: 1 } };
  for (const [library, createClient] of libraries)
    for (const query of ['?wsdl', '?WSDL', '?singleWsdl', '']) {
      const client = await createClient(`http://127.0.0.1:${port}/v2/soap11${query}`);
      const reply = await call(client.ScreeningApi?.Soap11?.GetSearch, input);
      t.regex(JSON.stringify(reply), /"SearchRecord"/, `${library} ${query}`);
    }
});

test('node-soap and strong-soap load an imported WSDL of several documents by URL and call it', async (t) => {
  const type =
    '<xs:complexType><xs:sequence><xs:element name="id" type="xs:string"/></xs:sequence></xs:complexType>';
  const schema = schemaOf(
    ['Get', 'GetResponse'].map((name) => `<xs:element name="${name}">${type}</xs:element>`).join(''),
  );
  // strong-soap needs the style attribute, which is optional in WSDL 1.1 §3.3
  const service = get
    .replace('<soap:binding ', '<soap:binding style="document" ')
    .replace('"out"><w:part name="p" element="t:Get"', '"out"><w:part name="p" element="t:GetResponse"');
  const main = schemaOf(
    '<xs:import namespace="urn:t" schemaLocation="things.xsd"/>',
    'targetNamespace="urn:m"',
  );
  const contract = folderOf(t, { 'things.wsdl': definitionsOf(main, service), 'things.xsd': schema });
  const { port } = await start(t, [
    '--contract',
    contract,
    '--upstream',
    await startUpstream(t, { id: '7' }),
  ]);
  for (const [library, createClient] of libraries)
    for (const query of ['?wsdl', '?singleWsdl', '']) {
      const client = await createClient(`http://127.0.0.1:${port}/Things.asmx${query}`);
      const reply = await call(client.Things?.ThingsSoap?.Get, { id: '1' });
      t.regex(JSON.stringify(reply), /"id":"7"/, `${library} ${query}`);
    }
});
