import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { envelope, keyHeaders, type Reply, send, startGateway } from '../gateway.ts';

const body = '<putStrict xmlns="urn:Strict"><id>GB1</id><Body><code>ab</code></Body></putStrict>';
const soap = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const calls: readonly (readonly [path: string, body: string])[] = [
  ['/soap11', soap],
  ['/xml/reply/putStrict', body],
  ['/json/reply/putStrict', '{"id":"GB1","Body":{"code":"ab"}}'],
];

const evil = 'https://evil.example';
const unasked = ['text/plain', 'Text/Plain;application/json', 'application/x-www-form-urlencoded', undefined];

/** Sends each call as a page has it sent. */
async function callAll(port: number, headers: Record<string, string>): Promise<readonly Reply[]> {
  return Promise.all(calls.map(([path, text]) => send(port, 'POST', path, headers, text)));
}

test('where no credentials are needed, a page of another site can’t have a browser call unasked', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('strict-validation') } });
  gateway.answer({ status: 200, body: '{}' });
  for (const page of [
    { Origin: evil },
    { Origin: 'null' },
    { Origin: evil, 'Sec-Fetch-Site': 'cross-site' },
    { Origin: 'https://a.example', 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'cross-site' },
  ]) {
    for (const type of unasked) {
      const headers = type === undefined ? page : { ...page, 'Content-Type': type };
      for (const reply of await callAll(gateway.port, headers as Record<string, string>)) {
        t.is(reply.status, 415, JSON.stringify(headers));
        t.regex(reply.text, /from a page of another site/);
      }
    }
  }
  t.is(gateway.hits.length, 0);
});

test('stacks and pages that send what a browser asks for, whoever sends no page’s headers, and own pages call on', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('strict-validation') } });
  gateway.answer({ status: 200, body: '{}' });
  const own = `http://127.0.0.1:${gateway.port}`;
  for (const headers of [
    { 'Content-Type': 'text/plain' },
    { 'Content-Type': 'application/x-www-form-urlencoded' },
    {},
    { 'Content-Type': 'text/plain', Origin: own },
    { 'Content-Type': 'text/plain', Origin: evil, 'Sec-Fetch-Site': 'same-origin' },
    { 'Content-Type': 'text/plain', 'Sec-Fetch-Site': 'none' },
    {
      'Content-Type': 'text/xml; charset=utf-8',
      Origin: 'chrome-extension://abc',
      'Sec-Fetch-Site': 'cross-site',
    },
  ] as Record<string, string>[]) {
    for (const reply of await callAll(gateway.port, headers))
      t.is(reply.status, 200, JSON.stringify(headers));
  }
});

test('pages of the origins that cors names may call, and those of others too where credentials are needed', async (t) => {
  const page = { Origin: evil, 'Sec-Fetch-Site': 'cross-site', 'Content-Type': 'text/plain' };
  const screening = await startGateway(t);
  t.is((await screening.send('POST', '/soap11', page, envelope('1.1'))).status, 200);
  t.is((await screening.send('POST', '/json/reply/GetSearch', { ...page, ...keyHeaders }, '{}')).status, 200);
  const directory = mkdtempSync(join(tmpdir(), 'contract-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync(folderOf('strict-validation'), directory, { recursive: true });
  appendFileSync(join(directory, 'soap.yaml'), '\ncors: [https://a.example]\n');
  const { port, answer } = await startGateway(t, { serve: { contract: directory } });
  answer({ status: 200, body: '{}' });
  for (const [origin, status] of [
    ['https://a.example', 200],
    [evil, 415],
  ] as const)
    for (const reply of await callAll(port, { ...page, Origin: origin })) t.is(reply.status, status);
});
