import test, { type ExecutionContext } from 'ava';
import { createPages } from '../../console/server/pages.ts';
import { send, startGateway } from '../gateway/gateway.ts';
import { folderOf, getAtPorts } from '../mappings/loader/wsdl/wsdl-folder.ts';

/** Returns the request and the reply on an operation's page as text. */
async function messagesOf(t: ExecutionContext, contract: string, operation: string): Promise<string> {
  const gateway = await startGateway(t, { serve: { pages: createPages, contract } });
  const accept = { Accept: 'text/html,application/xhtml+xml' };
  const { status, text } = await send(gateway.port, 'GET', `/docs/${operation}`, accept);
  t.is(status, 200);
  const from = text.indexOf('<h2 id="request">');
  return text
    .slice(from, text.indexOf('<h2 id="samples">'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll('&quot;', '"');
}

const catalogue = 'test/fixtures/adopt/catalogue';

test('a message of an imported WSDL is a tree with headers, attributes, choices and substitutes', async (t) => {
  const text = await messagesOf(t, catalogue, 'Find');
  for (const part of [
    'Tenant Tenant In the SOAP header',
    '@limit xs:int',
    'Criterion list of Criterion required',
    'ByTitle',
    'Can replace this element',
    'Item list of Item',
    'Published xs:date required nillable',
    'one of required Members Price Money Members of Money @currency xs:string Free xs:string',
    'xsi:type="Book"',
  ])
    t.true(text.includes(part), `${part}: ${text}`);
});

test('an rpc message is its wrapper with the parts; a one-way call has no reply', async (t) => {
  const contract = 'test/fixtures/adopt/orders-rpc';
  t.regex(await messagesOf(t, contract, 'placeOrder'), /placeOrder required Members of placeOrder \w+/);
  t.true((await messagesOf(t, contract, 'cancelOrder')).includes('There is no reply'));
});

test('the editor for a message of an imported WSDL completes the elements of its schemas', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages, contract: catalogue } });
  const { text } = await send(gateway.port, 'GET', '/docs/-/describe/Find');
  const { elements } = JSON.parse(text);
  const criteria = '{urn:catalogue:criteria}';
  t.deepEqual(elements[0], {
    name: '{urn:catalogue:service}FindRequest',
    children: [`${criteria}ByTitle`, `${criteria}ByPrice`],
    values: [],
  });
  t.deepEqual(
    elements.map(({ name }: { name: string }) => name.replace(/^.*\}/, '')),
    ['FindRequest', 'Tenant', 'ByTitle', 'ByPrice', 'name', 'Contains', 'AtMost'],
  );
});

for (const [what, versions, words] of [
  ['of SOAP 1.1', ['1.1'], 'SOAP 1.1'],
  ['of SOAP 1.2', ['1.2'], 'SOAP 1.2'],
  ['of both versions', ['1.2', '1.1'], 'SOAP 1.1, SOAP 1.2'],
] as const)
  test(`the start page of a WSDL with ports ${what} lists these versions and their addresses`, async (t) => {
    const contract = folderOf(t, { 'service.wsdl': getAtPorts(...versions) });
    const gateway = await startGateway(t, { serve: { pages: createPages, contract } });
    const { text } = await send(gateway.port, 'GET', '/', { Accept: 'text/html,application/xhtml+xml' });
    t.true(text.includes(`The WSDL describes ${words}.`), text);
    for (const version of ['1.1', '1.2'] as const)
      t.is(text.includes(`>SOAP ${version}</t`), (versions as readonly string[]).includes(version), version);
    t.false(text.includes('other documents of this list'));
  });

test('the start page of a WSDL that imports documents says so', async (t) => {
  const gateway = await startGateway(t, { serve: { pages: createPages, contract: catalogue } });
  const accept = { Accept: 'text/html,application/xhtml+xml' };
  const { text } = await send(gateway.port, 'GET', '/', accept);
  t.true(text.includes('It imports the other documents of this list.'), text);
  t.false(text.includes('both SOAP versions'));
});
