import test, { type ExecutionContext } from 'ava';
import type { Limits } from '../../../mappings/contract/limits.ts';
import { folderOf } from '../../mappings/loader/wsdl/wsdl-folder.ts';
import { type Gateway, send, startGateway } from '../gateway.ts';

/**
 * Responses of a mapped service that are not JSON, its errors as declared faults, and functions of the mapping (M1, M5,
 * M7).
 */

const binding = (version: '' | '12') =>
  `<binding name="B${version}" type="t:P"><soap${version}:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>${[
    'GetInvoice',
    'FindOrder',
    'AddOrder',
  ]
    .map(
      (name) =>
        `<operation name="${name}"><soap${version}:operation soapAction="urn:${name}"/><input><soap${version}:body use="literal"/></input><output><soap${version}:body use="literal"/></output>${name === 'FindOrder' ? `<fault name="NotFound"><soap${version}:fault name="NotFound" use="literal"/></fault><fault name="Busy"><soap${version}:fault name="Busy" use="literal"/></fault>` : ''}</operation>`,
    )
    .join('')}</binding>`;
const element = (name: string, ...members: readonly string[]) =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence>${members.join('')}</xs:sequence></xs:complexType></xs:element>`;
const member = (name: string, type: string, least = 0) =>
  `<xs:element name="${name}" type="xs:${type}" minOccurs="${least}"/>`;
const message = (name: string, of = name) =>
  `<message name="${name}"><part name="p" element="t:${of}"/></message>`;

const wsdl = `<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
<types><xs:schema targetNamespace="urn:t" elementFormDefault="qualified">
${element('GetInvoice', member('id', 'string'))}${element('GetInvoiceResponse', member('pdf', 'base64Binary'), member('kind', 'string'))}
${element('FindOrder', member('id', 'string'))}${element('FindOrderResponse', member('id', 'string'))}
${element('AddOrder', member('id', 'string'))}${element('AddOrderResponse', member('state', 'string', 1))}
${element('OrderMissing', member('code', 'string'), member('reason', 'string'))}<xs:element name="Busy" type="xs:int"/>
</xs:schema></types>
${['GetInvoice', 'FindOrder', 'AddOrder'].map((name) => message(name) + message(`${name}Response`)).join('')}${message('NotFound', 'OrderMissing')}${message('Busy')}
<portType name="P">${['GetInvoice', 'FindOrder', 'AddOrder'].map((name) => `<operation name="${name}"><input message="t:${name}"/><output message="t:${name}Response"/>${name === 'FindOrder' ? '<fault name="NotFound" message="t:NotFound"/><fault name="Busy" message="t:Busy"/>' : ''}</operation>`).join('')}</portType>
${binding('')}${binding('12')}
<service name="S"><port name="One" binding="t:B"><soap:address location="http://old.example/s"/></port><port name="Two" binding="t:B12"><soap12:address location="http://old.example/s12"/></port></service></definitions>`;

const openapi = `openapi: 3.0.3
info: { title: Orders, version: '1' }
paths:
  /orders/{id}:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { description: ok, content: { application/json: { schema: { type: object, properties: { id: { type: string } } } } } }
        '404': { description: none, content: { application/problem+json: { schema: { type: object, properties: { title: { type: string }, detail: { type: string } } } } } }
  /orders/{id}/invoice:
    get:
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { '200': { description: ok, content: { application/pdf: { schema: { type: string, format: binary } } } } }
  /orders:
    post:
      requestBody: { required: true, content: { application/json: { schema: { type: object, properties: { id: { type: string } } } } } }
      responses: { '204': { description: done } }
`;

const mapping = `GetInvoice:
  call: { GET: '/orders/{id}/invoice' }
  request: { path.id: id }
  reply: { pdf: ., kind: header.content-type }
FindOrder:
  call: { GET: '/orders/{id}' }
  request: { path.id: id }
  reply: { id: id }
  fault:
    NotFound: { when: { status: 404 }, map: { '@message': title, code: title, reason: detail } }
    Busy: { when: { status: [429, 503] }, map: { value: { from: status, as: number } } }
AddOrder:
  call: { POST: /orders }
  request: { id: id }
  reply: { state: { const: done } }
`;

const code = `export const pad = (value: string): string => 'x'.padStart(Number(value), 'x');
export const grow = (): number => { const all: unknown[] = []; for (;;) all.push(new Array(50_000).fill(1.5)); };
export const same = (value: string): string => value;
`;

function serveMapped(t: ExecutionContext, limits: Partial<Limits> = {}, rules = mapping): Promise<Gateway> {
  const files = { 's.wsdl': wsdl, 'openapi.yaml': openapi, 'mapping.yaml': rules, 'code.ts': code };
  return startGateway(t, {
    serve: { contract: folderOf(t, files) },
    limits: { readAsideMs: 100_000, ...limits },
  });
}

const call = ({ port }: Gateway, name: string, id = '7', version: '1.1' | '1.2' = '1.1') => {
  const [namespace, type, path] =
    version === '1.1'
      ? ['http://schemas.xmlsoap.org/soap/envelope/', 'text/xml', '/s']
      : ['http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml', '/s12'];
  const body = `<s:Envelope xmlns:s="${namespace}"><s:Body><${name} xmlns="urn:t"><id>${id}</id></${name}></s:Body></s:Envelope>`;
  return send(
    port,
    'POST',
    path,
    { 'Content-Type': `${type}; charset=utf-8`, SOAPAction: `"urn:${name}"` },
    body,
  );
};

test('M1: a binary response is base64 in both SOAP versions, small and read in a thread', async (t) => {
  const gateway = await serveMapped(t, { replyAsideBytes: 10_000 });
  for (const size of [0, 5, 100_000]) {
    const pdf = Buffer.alloc(size, Uint8Array.of(0x25, 0, 0xff, 0x80));
    gateway.answer((_hit, response) =>
      response.writeHead(200, { 'Content-Type': 'application/pdf' }).end(pdf),
    );
    for (const version of ['1.1', '1.2'] as const) {
      const { text, status } = await call(gateway, 'GetInvoice', '7', version);
      t.is(status, 200);
      t.is(/pdf>([^<]*)<\/[^:>]*:?pdf>/.exec(text)?.[1] ?? '', pdf.toString('base64'));
      t.regex(text, />application\/pdf</);
    }
  }
  t.is(gateway.hits[0]?.headers.accept, 'application/pdf');
});

test('M1: an HTML page instead of bytes is a mismatch', async (t) => {
  const gateway = await serveMapped(t);
  gateway.answer((_hit, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<p>'));
  t.regex(
    (await call(gateway, 'GetInvoice')).text,
    /UpstreamInvalidResponse: the reply: expected a response of type application\/pdf, got HTML/,
  );
});

test('M3: a write whose response has no body succeeds, whatever body arrives', async (t) => {
  const gateway = await serveMapped(t);
  for (const answer of [
    { status: 204 },
    { status: 200, body: 'done' },
    { status: 201, body: Buffer.of(0xff) },
  ]) {
    gateway.answer(answer);
    const { text, status } = await call(gateway, 'AddOrder');
    t.is(status, 200, text);
    t.regex(text, />done</);
  }
  t.deepEqual(
    gateway.hits.map(({ body }) => body),
    ['{"id":"7"}', '{"id":"7"}', '{"id":"7"}'],
  );
});

for (const [version, before] of [
  ['1.1', '<faultcode>s:Server</faultcode><faultstring>gone</faultstring><detail>'],
  ['1.2', '<s:Text xml:lang="en">gone</s:Text></s:Reason><s:Detail>'],
] as const)
  test(`M7: errors are the declared faults of the operation in SOAP ${version}`, async (t) => {
    const gateway = await serveMapped(t, { replyAsideBytes: 1_000 });
    for (const detail of ['no order', 'x'.repeat(2_000)]) {
      gateway.answer({
        status: 404,
        body: JSON.stringify({ title: 'gone', detail }),
        headers: { 'Content-Type': 'application/problem+json' },
      });
      const { text } = await call(gateway, 'FindOrder', '7', version);
      t.true(text.includes(before), text);
      const missing = /OrderMissing[^>]*><(\w+:)?code>gone<\/(\w+:)?code><(\w+:)?reason>([^<]*)</.exec(text);
      t.is(missing?.[4], detail);
    }
    for (const status of [429, 503]) {
      gateway.answer({ status, body: '<p>busy</p>', headers: { 'Content-Type': 'text/html' } });
      t.regex((await call(gateway, 'FindOrder', '7', version)).text, new RegExp(`Busy[^>]*>${status}<`));
    }
  });

test('M7: an error without a declared fault is an error of the call, small and read in a thread', async (t) => {
  const gateway = await serveMapped(t, { replyAsideBytes: 1_000 });
  for (const more of ['', 'x'.repeat(2_000)]) {
    gateway.answer({ status: 409, body: JSON.stringify({ message: 'twice', more }) });
    t.regex((await call(gateway, 'FindOrder')).text, /<faultstring>Conflict: twice/);
  }
});

const withCode = (name: string) =>
  mapping.replace(
    "GET: '/orders/{id}' }\n  request: { path.id: id }",
    `GET: '/orders/{id}' }\n  code: ./code.ts\n  request: { path.id: { from: id, code: ${name} } }`,
  );

test('M5: the size that a caller can request from a function is limited', async (t) => {
  const gateway = await serveMapped(t, { mappingValues: 100 }, withCode('pad'));
  gateway.answer({ body: '{"id":"1"}' });
  t.regex((await call(gateway, 'FindOrder', '6000')).text, /<(\w+:)?id>1</);
  t.is(gateway.hits[0]?.path.length, 6000 + '/orders/'.length);
  for (const size of ['6401', '500000000', '1e15'])
    t.regex(
      (await call(gateway, 'FindOrder', size)).text,
      /s:Client.*pad\(\) for path\.id: expected a size of at most 6400/,
    );
  t.is(gateway.hits.length, 1);
});

test('M5: a function that fills the heap ends its call with a fault, and the gateway continues', async (t) => {
  const limits = { readAsideHeapBytes: 32 * 1024 * 1024, mappingCodeMs: 20_000, mappingValues: 100_000 };
  const gateway = await serveMapped(t, limits, withCode('grow'));
  t.regex(
    (await call(gateway, 'FindOrder')).text,
    /s:Client.*expected a mapping that needs at most 33554432 bytes of memory, got more memory/,
  );
  t.is(gateway.hits.length, 0);
  gateway.answer({ body: Buffer.of(1) });
  t.is((await call(gateway, 'GetInvoice')).status, 200);
});

test('M5: many small messages with functions wait for their thread', async (t) => {
  const gateway = await serveMapped(t, { readAsideQueue: 1 }, withCode('same'));
  gateway.answer({ body: '{"id":"1"}' });
  const replies = await Promise.all(Array.from({ length: 20 }, () => call(gateway, 'FindOrder')));
  t.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
});
