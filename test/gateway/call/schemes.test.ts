import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { type HeaderList, type Hit, send, sharedGateway, soap11Namespace } from '../gateway.ts';

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
    block === ''
      ? ''
      : `<s:Header><Credentials xmlns="urn:Schemes" s:mustUnderstand="1">${block}</Credentials></s:Header>`;
  const body = `<s:Envelope xmlns:s="${soap11Namespace}">${header}<s:Body><pets xmlns="urn:Schemes"><page>${page}</page></pets></s:Body></s:Envelope>`;
  const { text } = await send(gateway.port, 'POST', '/soap11', headers, body);
  return { hit: gateway.hits.find(({ path }) => path.includes(`page=${page}`)), text };
}

test('a caller’s credentials go where the document’s security schemes have them, and are no inputs', async (t) => {
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

test('authorization: a header of 8 KiB goes on, one of a character more is Unauthorized', async (t) => {
  const of = (length: number): string => 'Bearer '.padEnd(length, 'x');
  const { hit } = await call(11, { Authorization: of(8_192) });
  t.is(hit?.headers.authorization, of(8_192));
  const refused = await call(12, { Authorization: of(8_193) });
  t.is(refused.hit, undefined);
  t.true(refused.text.includes('Unauthorized'), refused.text);
});

test('a caller may give its credentials in a SOAP header too', async (t) => {
  const block = '<key>k-3</key><queryKey>q</queryKey><basic> Basic dTpw </basic>';
  const { hit } = await call(3, {}, block);
  t.is(hit?.path, '/pets?page=3&api_key=q');
  t.like(hit?.headers, { 'x-key': 'k-3', authorization: 'Basic dTpw' });
});

test('a credential that differs between the SOAP header and the HTTP headers is refused', async (t) => {
  const { hit, text } = await call(4, { 'X-Key': 'k-4' }, '<key>k-5</key>');
  t.is(hit, undefined);
  t.true(text.includes('ConflictingCredentials'), text);
});

for (const block of ['<keys>k</keys>', '<key>k</key><key>k</key>', '<key xmlns="">k</key>']) {
  test(`a SOAP header of ${block} is refused, and its text not told`, async (t) => {
    const { hit, text } = await call(5, {}, block);
    t.is(hit, undefined);
    t.true(text.includes('expected &lt;key&gt;, &lt;queryKey&gt;, '), text);
  });
}

test('two Credentials blocks in a SOAP header are refused: none of them bypasses the other', async (t) => {
  const more = '</Credentials><Credentials xmlns="urn:Schemes">';
  const { hit, text } = await call(6, {}, `<key>k-6</key>${more}<key>k-7</key>`);
  t.is(hit, undefined);
  t.true(text.includes('expected Credentials once in Header, got it again'), text);
});

test('credentials that a caller leaves out are not sent: which ones are needed is the service’s to say', async (t) => {
  const { hit } = await call(2, {});
  t.is(hit?.path, '/pets?page=2');
  t.deepEqual(
    Object.keys(hit?.headers ?? {}).filter((name) => name !== 'host' && name !== 'connection'),
    ['accept'],
  );
});

test('a secret is in no error, nor is the token of an Authorization, whatever the service says', async (t) => {
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
