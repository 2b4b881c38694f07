import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { elementText, send, startGateway } from '../gateway/gateway.ts';
import { readPage } from './page.ts';

const content = {
  'application/json': {
    schema: { type: 'object', properties: { content: { type: 'string', format: 'byte' } } },
  },
};
const document = {
  openapi: '3.1.0',
  info: { title: 'Files', version: '1' },
  paths: {
    '/files': {
      post: {
        operationId: 'put',
        requestBody: { required: true, content },
        responses: { 204: { description: 'ok' } },
      },
    },
  },
};

/** Returns the rows of the table of errors, by their first cell. */
function errorRows(): ReadonlyMap<string, readonly string[]> {
  const table = readPage('attachments.md').split('| problem | status | code |\n', 2)[1] ?? '';
  const rows = (table.split('\n\n', 1)[0] ?? '').split('\n').slice(1);
  return new Map(
    rows.map((row) => {
      const [problem = '', ...cells] = row.replace(/^\| | \|$/g, '').split(' | ');
      return [problem, cells.map((cell) => cell.replaceAll('`', ''))];
    }),
  );
}

const related = 'multipart/related; type="application/xop+xml"; boundary=b; start-info="text/xml"';
const include = (href: string): string =>
  `<content><x:Include href="${href}" xmlns:x="http://www.w3.org/2004/08/xop/include"/></content>`;
const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><put xmlns="urn:Files"><Body>${body}</Body></put></s:Body></s:Envelope>`;

/** Returns a multipart message with an envelope and a part for each Content-ID. */
function message(body: string, ...ids: readonly string[]): string {
  const parts = ids.flatMap((id) => ['--b', `Content-ID: <${id}>`, '', 'abc']);
  const root = ['--b', 'Content-Type: application/xop+xml; type="text/xml"', '', envelope(body)];
  return [...root, ...parts, '--b--', ''].join('\r\n');
}

const many = Array.from({ length: 101 }, (_, index) => `p${index}`);
const large = envelope(`<content>${'A'.repeat(5_000)}</content>`);
/** Requests for the rows that begin with a text: Content-Type and body. */
const requests: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'the message is larger': [['text/xml', large]],
  DIME: [
    ['application/dime', 'x'],
    ['multipart/mixed; boundary=b', message('')],
  ],
  'malformed parts': [
    [related, 'x'],
    [related, message('', ...many)],
  ],
  'a reference to a missing part': [
    [related, message(include('cid:none'))],
    [related, message(include('http://127.0.0.1/file'))],
  ],
  'a part that is not referenced exactly once': [
    [related, message('', 'p')],
    [related, message(include('cid:p') + include('cid:p'), 'p')],
  ],
};

test('docs/attachments.md: each problem gives the fault of its row', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'attachments-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const openapi = join(folder, 'openapi.yaml');
  writeFileSync(openapi, JSON.stringify(document));
  const limits = { bodyBytesWithBinary: 4_000 };
  const small = await startGateway(t, { limits, serve: { contract: { openapi } } });
  const gateway = await startGateway(t, { serve: { contract: { openapi } } });
  const rows = errorRows();
  for (const [problem, all] of Object.entries(requests)) {
    const [, [status, code] = []] = [...rows].find(([first]) => first.startsWith(problem)) ?? [];
    for (const [type, body] of all) {
      const to = body === large ? small : gateway;
      const headers = { 'content-type': type, soapaction: '""' };
      const reply = await send(to.port, 'POST', '/soap11', headers, body);
      const text = `${problem}: ${reply.text}`;
      t.is(reply.status, 500, text);
      t.is(elementText(reply.text, 'faultcode'), 's:Client', text);
      t.is(elementText(reply.text, 'status'), status, text);
      t.is(elementText(reply.text, 'code'), code, text);
      t.is(to.hits.length, 0, text);
    }
  }
});
