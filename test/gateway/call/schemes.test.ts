import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createClientAsync } from 'soap';
import { type HeaderList, type Hit, send, sharedGateway, soap11Namespace, startGateway } from '../gateway.ts';

const document = {
  openapi: '3.1.0',
  info: {},
  paths: {
    '/pets': {
      get: {
        operationId: 'pets',
        parameters: [
          { name: 'api_key', in: 'query', schema: { type: 'string' } },
          { name: 'X-Key', in: 'header', schema: { type: 'string' } },
          { name: 'page', in: 'query', schema: { type: 'integer' } },
        ],
        responses: { 204: { description: 'done' } },
      },
    },
  },
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      queryKey: { $ref: '#/components/securitySchemes/inQuery' },
      inQuery: { type: 'apiKey', in: 'query', name: 'api_key' },
      session: { type: 'apiKey', in: 'cookie', name: 'SESSION' },
      basic: { type: 'http', scheme: 'basic' },
      oauth: { type: 'oauth2', flows: {} },
      certificate: { type: 'mutualTLS' },
    },
  },
};

const contract = mkdtempSync(join(tmpdir(), 'schemes-'));
writeFileSync(join(contract, 'openapi.yaml'), JSON.stringify(document));
writeFileSync(join(contract, 'soap.yaml'), 'service: Schemes\n');
const gateway = await sharedGateway({ serve: { contract } });
rmSync(contract, { recursive: true });
gateway.answer((hit, response) => {
  const refuses = hit.path.includes('page=401');
  response.writeHead(refuses ? 401 : 204, { 'content-type': 'application/json' });
  response.end(refuses ? JSON.stringify({ message: `no ${hit.headers.authorization}` }) : undefined);
});

async function call(
  page: number,
  headers: HeaderList,
  block = '',
): Promise<{ hit: Hit | undefined; text: string }> {
  const header =
    block === '' ? '' : `<Credentials xmlns="urn:Schemes" s:mustUnderstand="1">${block}</Credentials>`;
  return await callWith(page, header, headers);
}

async function callWith(
  page: number,
  blocks: string,
  headers: HeaderList = {},
): Promise<{ hit: Hit | undefined; text: string }> {
  const header = blocks === '' ? '' : `<s:Header>${blocks}</s:Header>`;
  const body = `<s:Envelope xmlns:s="${soap11Namespace}">${header}<s:Body><pets xmlns="urn:Schemes"><page>${page}</page></pets></s:Body></s:Envelope>`;
  const { text } = await send(gateway.port, 'POST', '/soap11', headers, body);
  return { hit: gateway.hits.find(({ path }) => path.includes(`page=${page}`)), text };
}

test('a caller’s credentials are sent as the security schemes define, and are no inputs', async (t) => {
  const token = `Bearer ${'x'.repeat(2000)}.y_z-1`;
  const { hit } = await call(1, {
    'X-Key': 'k-1',
    api_key: 'a+b&c',
    SESSION: 's;1',
    Authorization: token,
    'X-Other': 'stays here',
    Cookie: 'stays=here',
  });
  t.is(hit?.path, '/pets?page=1&api_key=a%2Bb%26c');
  t.like(hit?.headers, { 'x-key': 'k-1', cookie: 'SESSION=s%3B1', authorization: token });
  t.is(hit?.headers['x-other'], undefined);
});

test('authorization: a header of 8 KiB is sent on, one of a character more is Unauthorized', async (t) => {
  const of = (length: number): string => 'Bearer '.padEnd(length, 'x');
  const { hit } = await call(11, { Authorization: of(8_192) });
  t.is(hit?.headers.authorization, of(8_192));
  const refused = await call(12, { Authorization: of(8_193) });
  t.is(refused.hit, undefined);
  t.true(refused.text.includes('Unauthorized'), refused.text);
});

test('a caller may send its credentials in a SOAP header', async (t) => {
  const block = '<key>k-3</key><queryKey>q</queryKey><basic> Basic dTpw </basic>';
  const { hit } = await call(3, {}, block);
  t.is(hit?.path, '/pets?page=3&api_key=q');
  t.like(hit?.headers, { 'x-key': 'k-3', authorization: 'Basic dTpw' });
});

test('refuses a credential that differs between the SOAP header and the HTTP headers', async (t) => {
  const { hit, text } = await call(4, { 'X-Key': 'k-4' }, '<key>k-5</key>');
  t.is(hit, undefined);
  t.true(text.includes('ConflictingCredentials'), text);
});

const wrongBlocks = [
  ['<keys>k</keys>', 'got &lt;keys&gt; ('],
  ['<key>k</key><key>k</key>', 'got &lt;key&gt; again ('],
  ['<key xmlns="">k</key>', 'got &lt;key&gt; in no namespace ('],
  ['<x:key xmlns:x="urn:Other">k</x:key>', 'got &lt;key&gt; in another namespace ('],
] as const;
for (const [block, got] of wrongBlocks) {
  test(`refuses a SOAP header of ${block}, names the namespace and does not repeat the text`, async (t) => {
    const { hit, text } = await call(5, {}, block);
    t.is(hit, undefined);
    t.true(text.includes('expected &lt;key&gt;, &lt;queryKey&gt;, '), text);
    t.true(text.includes('of namespace "urn:Schemes" in Credentials, each once, '), text);
    t.true(text.includes(got), text);
  });
}

for (const [declaration, got] of [
  ['xmlns=""', 'no namespace'],
  ['xmlns="urn:Other"', 'another namespace'],
] as const) {
  test(`refuses a Credentials block with ${declaration}: credentials are never dropped silently`, async (t) => {
    const { hit, text } = await callWith(7, `<Credentials ${declaration}><key>k</key></Credentials>`);
    t.is(hit, undefined);
    t.true(
      text.includes(
        `expected the header block Credentials in namespace "urn:Schemes", got the block in ${got} (`,
      ),
      text,
    );
  });
}

test('ignores a Credentials block for another role, which also does not count as a duplicate', async (t) => {
  const block = (key: string, attributes = '') =>
    `<Credentials xmlns="urn:Schemes"${attributes}><key>${key}</key></Credentials>`;
  const hop = ' s:actor="urn:next-hop" s:mustUnderstand="1"';
  const { hit } = await callWith(-20, block('theirs', hop));
  t.is(hit?.headers['x-key'], undefined);
  const { hit: second } = await callWith(-21, block('theirs', hop) + block('ours'));
  t.is(second?.headers['x-key'], 'ours');
  const addressed =
    '<w:Action xmlns:w="http://www.w3.org/2005/08/addressing" s:actor="urn:next-hop">x</w:Action>';
  const { hit: third, text } = await callWith(-22, addressed + block('ours'));
  t.is(third?.headers['x-key'], 'ours');
  t.false(text.includes('<w:Action'));
});

test('ignores a Credentials block of another namespace for another role', async (t) => {
  const { hit } = await callWith(8, '<Credentials xmlns="urn:Other" s:actor="urn:next-hop"/>');
  t.is(hit?.path, '/pets?page=8');
});

test('the WSDL declares the header block in the input of every operation', async (t) => {
  const { text } = await send(gateway.port, 'GET', '/soap11?wsdl', {}, '');
  t.true(text.includes('<xs:element name="Credentials" type="tns:Credentials"/>'), text);
  t.true(text.includes('<wsdl:part name="credentials" element="typ:Credentials"/>'), text);
  for (const prefix of ['soap', 'soap12'])
    t.true(
      text.includes(`<${prefix}:header message="tns:CredentialsHeader" part="credentials" use="literal"/>`),
      text,
    );
});

test('a client of the WSDL sends the declared block', async (t) => {
  const client = await createClientAsync(`http://127.0.0.1:${gateway.port}/soap11?wsdl`);
  client.addSoapHeader({ Credentials: { key: 'k-9', basic: 'Basic dTpw' } }, '', 'tns', 'urn:Schemes');
  await client.petsAsync({ page: 19 });
  const hit = gateway.hits.find(({ path }) => path.includes('page=19'));
  t.like(hit?.headers, { 'x-key': 'k-9', authorization: 'Basic dTpw' });
});

test('refuses two Credentials blocks in a SOAP header, so neither bypasses the other', async (t) => {
  const more = '</Credentials><Credentials xmlns="urn:Schemes">';
  const { hit, text } = await call(6, {}, `<key>k-6</key>${more}<key>k-7</key>`);
  t.is(hit, undefined);
  t.true(text.includes('expected Credentials once in Header, got the block again'), text);
});

test('credentials that a caller omits are not sent; the upstream decides if they are needed', async (t) => {
  const { hit } = await call(2, {});
  t.is(hit?.path, '/pets?page=2');
  t.deepEqual(
    Object.keys(hit?.headers ?? {}).filter((name) => name !== 'host' && name !== 'connection'),
    ['x-request-id', 'accept'],
  );
});

test('no error contains a secret or an Authorization token, whatever the upstream returns', async (t) => {
  const { text } = await call(401, { Authorization: 'Bearer secret-token' });
  t.true(text.includes('no ***'), text);
  t.false(text.includes('secret-token'));
  t.false(gateway.log().includes('secret-token'));
});

for (const [title, value] of [
  ['with two blanks', 'Bearer  x'],
  ['longer than 8 KiB', `Bearer ${'x'.repeat(8192)}`],
] as const) {
  test(`an Authorization ${title} is refused`, async (t) => {
    const page = value.length;
    const { hit, text } = await call(page, { Authorization: value });
    t.is(hit, undefined);
    t.true(
      text.includes('Unauthorized: Authorization: expected printable ASCII, at most 8192 characters'),
      text,
    );
  });
}

test('W24: a header block may hold a Bearer token of 8,192 characters, and another key 256', async (t) => {
  const token = `Bearer ${'x'.repeat(8_192 - 'Bearer '.length)}`;
  const accepted = await call(500, {}, `<basic>${token}</basic><key>${'k'.repeat(256)}</key>`);
  t.is(accepted.hit?.headers.authorization, token);
  const long = await call(501, {}, `<basic>${token}x</basic>`);
  t.is(long.hit, undefined);
  t.true(
    long.text.includes('Unauthorized: Authorization: expected printable ASCII, at most 8192 characters'),
  );
  const longKey = await call(502, {}, `<key>${'k'.repeat(257)}</key>`);
  t.is(longKey.hit, undefined);
  t.true(longKey.text.includes('X-Key: expected printable ASCII without blanks, at most 256 characters'));
});

test('W24: without security schemes, no credential of a caller is sent upstream', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'schemes-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'openapi.yaml'), JSON.stringify({ ...document, components: {} }));
  writeFileSync(join(folder, 'soap.yaml'), 'service: Schemes\n');
  const { port, hits } = await startGateway(t, { serve: { contract: folder } });
  const body = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body><pets xmlns="urn:Schemes"/></s:Body></s:Envelope>`;
  await send(port, 'POST', '/soap11', { Authorization: 'Bearer t', Cookie: 'a=b', 'X-Key': 'k' }, body);
  t.is(hits.length, 1);
  const { authorization, cookie, 'x-key': key } = hits[0]?.headers ?? {};
  t.deepEqual([authorization, cookie, key], [undefined, undefined, undefined]);
});
