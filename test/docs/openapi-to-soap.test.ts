import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createCodec } from '../../gateway/codec.ts';
import { compileContract } from '../../mappings/compile.ts';
import { type Answer, elementText, send, startGateway } from '../gateway/gateway.ts';
import { load } from '../plain/documents.ts';
import { readPage } from './page.ts';

const page = readPage('openapi-to-soap.md');

/** Returns the cells of the table with this head, without the marks of code. */
function rowsOf(head: string): readonly (readonly string[])[] {
  const table = page.slice(page.indexOf(`| ${head} |\n`)).split('\n\n', 1)[0] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').replaceAll('`', '')));
}

/** A document with one operation that receives and returns `m`. */
function documentOf(schema: string): object {
  const body = { type: 'object', properties: { m: JSON.parse(schema) } };
  const content = { 'application/json': { schema: body } };
  return {
    openapi: '3.1.0',
    info: { title: 'Values', version: '1' },
    paths: {
      '/values': {
        post: {
          operationId: 'send',
          requestBody: { required: true, content },
          responses: { 200: { description: 'ok', content } },
        },
      },
    },
  };
}

const codecOf = (schema: string) => createCodec(compileContract(load(documentOf(schema)).contract));
const replies = rowsOf('schema | JSON of the upstream | XML for the client');
const requests = rowsOf('schema | XML of the client | JSON for the upstream');
const errors = rowsOf('cause | SOAP 1.1 | SOAP 1.2 | status | code | was a write executed?');

test('docs/openapi-to-soap.md: each value of a reply becomes the XML of its row', (t) => {
  t.true(replies.length > 12);
  for (const [schema = '', json = '', xml = ''] of replies) {
    const text = codecOf(schema).jsonToXml('send', json === 'absent' ? '{}' : `{"m":${json}}`);
    const result = /<Result>(.*)<\/Result>|<Result\/>/s.exec(text)?.[1] ?? '';
    t.is(result, xml === 'no element' ? '' : xml, `${schema} ${json}`);
  }
});

test('docs/openapi-to-soap.md: each value of a request becomes the JSON of its row', (t) => {
  t.true(requests.length > 8);
  for (const [schema = '', xml = '', json = ''] of requests) {
    const inner = xml === 'no element' ? '' : xml;
    const instance = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"';
    const message = `<send xmlns="urn:Values" ${instance}><Body>${inner}</Body></send>`;
    const expected = json === 'absent' ? '{"Body":{}}' : `{"Body":{"m":${json}}}`;
    t.is(codecOf(schema).xmlToJson(Buffer.from(message)).json, expected, `${schema} ${xml}`);
  }
});

const own = '{"code":"own","message":"text"}';
/** Responses of the upstream for the rows that begin so. */
const answers: Readonly<Record<string, readonly Answer[]>> = {
  'upstream: 404': [{ status: 404, body: own }, { status: 404 }],
  'upstream: 409': [{ status: 409, body: own }, { status: 409 }],
  'upstream: 503': [{ status: 503, body: own }, { status: 503 }],
  'upstream: 504': [{ status: 504, body: own }, { status: 504 }],
  'upstream: 500, 501, 502 or another 5xx, with an error in JSON': [500, 501, 502, 599].flatMap((status) => [
    { status, body: own },
    { status, body: '{"title":"text"}' },
  ]),
  'upstream: 500, 501, 502 or another 5xx, with any other body': [500, 501, 502, 599].map((status) => ({
    status,
    body: 'text',
  })),
  'upstream: a redirect that the document does not declare': [301, 302, 307].flatMap((status) => [
    { status, body: own },
    { status, headers: { location: '/values' } },
  ]),
  'no complete response of the upstream in time': [() => {}],
  'the upstream closes the connection': [(_hit, response) => response.destroy()],
  'a response that the document does not allow': [{ status: 200, body: '{"m":true}' }],
};

test('docs/openapi-to-soap.md: each cause of an error gives the fault of its row', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'errors-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const openapi = join(folder, 'openapi.yaml');
  writeFileSync(openapi, JSON.stringify(documentOf('{"type":"integer"}')));
  const serve = { contract: { openapi } };
  const limits = { breakerCalls: 1_000 };
  const patient = await startGateway(t, { isPatient: true, limits, serve });
  const impatient = await startGateway(t, { isPatient: true, limits: { upstreamFirstByteMs: 100 }, serve });
  const headers = { 'content-type': 'text/xml', soapaction: '""' };
  const body = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><send xmlns="urn:Values"><Body/></send></s:Body></s:Envelope>`;
  for (const [cause, responses] of Object.entries(answers)) {
    const row = errors.find(([first = '']) => first.startsWith(cause));
    const [, soap11, , documented, code = ''] = row ?? [];
    const codes = /^the upstream's code, otherwise (\w+)$/.exec(code)?.slice(1) ?? [];
    const expected = codes.length > 0 ? ['own', ...codes] : [code];
    for (const [index, answer] of responses.entries()) {
      const sent = typeof answer === 'function' ? undefined : String(answer.status);
      const status = documented === 'unchanged' ? sent : documented;
      const gateway = cause.endsWith('in time') ? impatient : patient;
      gateway.answer(answer);
      const reply = await send(gateway.port, 'POST', '/soap11', headers, body);
      const message = `${cause}: ${reply.text}`;
      t.is(reply.status, 500, message);
      t.is(reply.headers['x-status'], status, message);
      t.is(elementText(reply.text, 'faultcode'), `s:${soap11}`, message);
      t.is(elementText(reply.text, 'status'), status, message);
      t.is(elementText(reply.text, 'upstreamStatus'), sent, message);
      t.is(elementText(reply.text, 'code'), expected[index % expected.length], message);
    }
  }
});
