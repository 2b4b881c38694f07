import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { loadAdoptedService } from '../../../mappings/loader/wsdl/load-adopted.ts';
import { send } from '../../gateway/gateway.ts';
import type { Version } from '../checks.ts';
import { endpointOf, serveContract } from '../gateway.ts';
import { loadStacks } from '../stacks.ts';
import { isCalledBy, versionsOf } from './call.ts';
import { services } from './checks.ts';
import { serviceGaps } from './gaps.ts';
import { importProblem, versionProblem, watchRequests } from './seen.ts';
import { startStores } from './upstream.ts';

const stacks = loadStacks();

for (const { name, folder, path } of services) {
  if (path === undefined) continue;
  test(`${name}: all operations of the WSDL are served at the path of its address`, (t) => {
    const { service, warnings } = loadAdoptedService(folder, {});
    t.deepEqual(warnings, []);
    t.is(service.operations.length, 3);
    t.deepEqual(service.notServed, []);
    t.true(readFileSync(join(folder, service.documents[0]?.file ?? ''), 'utf8').includes(path));
  });
}

test('each stack has a program for the services that its stack.json lists', (t) => {
  const known = services.map(({ name }) => name);
  for (const { folder, name, services: listed = [] } of stacks) {
    t.true(existsSync(join(folder, 'run.sh')) || existsSync(join(folder, 'service.sh')), name);
    t.true(listed.length === 0 || existsSync(join(folder, 'service.sh')), name);
    for (const service of listed) t.true(known.includes(service), `${name}: ${service}`);
  }
});

test('a gateway of the run has the default settings: pages for browsers, WSDLs for other clients', async (t) => {
  const upstream = await startStores();
  const gateway = await serveContract('test/interop/shop', upstream.url);
  t.teardown(async () => {
    await gateway.stop();
    upstream.close();
  });
  const typeOf = async (headers: Record<string, string>): Promise<string | null> =>
    (await fetch(gateway.wsdl[0] ?? '', { headers })).headers.get('content-type');
  const accept = 'text/html,application/xhtml+xml,application/xml,text/xml;q=0.9,*/*;q=0.8';
  t.regex((await typeOf({ accept, 'sec-fetch-dest': 'document' })) ?? '', /^text\/html/);
  t.regex((await typeOf({ accept })) ?? '', /^text\/xml/);
});

test('a gateway that does not start fails with its log', async (t) => {
  await t.throwsAsync(serveContract('test/interop/shop', 'not a URL'), {
    message: /expected a start line, got .*not a URL/s,
  });
});

test('each stack calls an OpenAPI document and an imported WSDL', (t) => {
  for (const stack of stacks) {
    const called = services.filter((service) => isCalledBy(stack, service));
    t.true(
      called.some(({ path }) => path === undefined),
      stack.name,
    );
    t.true(
      called.some(({ path }) => path !== undefined),
      stack.name,
    );
    for (const service of called) t.true(versionsOf(stack, service).length > 0, stack.name);
  }
});

test('each gap is of a check of a stack that calls the service', (t) => {
  for (const { stack, service, version, check } of serviceGaps) {
    const caller = stacks.find(({ name }) => name === stack);
    const called = services.filter(
      (one) =>
        (service === undefined || one.name === service) &&
        caller !== undefined &&
        isCalledBy(caller, one) &&
        (version === undefined || versionsOf(caller, one).includes(version)) &&
        (check === undefined || check === 'import' || check in one.checks),
    );
    t.true(called.length > 0, `${stack} ${service} ${version} ${check}`);
  }
});

test('the metrics of a run show whether the client fetched the WSDL, and its SOAP versions', async (t) => {
  const upstream = await startStores();
  const gateway = await serveContract('test/interop/shop', upstream.url);
  t.teardown(async () => {
    await gateway.stop();
    upstream.close();
  });
  const read = watchRequests(gateway.url);
  const start = await read();
  const call = async (version: Version, mediaType: string, namespace: string): Promise<void> => {
    const body = `<e:Envelope xmlns:e="${namespace}"><e:Body><getItem xmlns="urn:Shop"><id>1</id></getItem></e:Body></e:Envelope>`;
    const headers = { 'Content-Type': mediaType };
    t.is((await fetch(endpointOf(gateway, version), { method: 'POST', headers, body })).status, 200);
  };
  await call('1.2', 'application/soap+xml', 'http://www.w3.org/2003/05/soap-envelope');
  const called = await read();
  t.is(versionProblem(start, called, '1.2'), undefined);
  t.is(versionProblem(start, called, '1.1'), 'expected SOAP 1.1 in every call, got SOAP 1.2 in 1');
  t.is(importProblem(start, called, '1.2'), 'expected a GET of the WSDL, got none');
  await fetch(gateway.wsdl[0] ?? '');
  const fetched = await read();
  t.is(importProblem(start, fetched, '1.2'), undefined);
  t.is(importProblem(start, fetched, '1.1'), 'expected calls, got none');
  // a second run that uses the generated code of the first
  await call('1.1', 'text/xml', 'http://schemas.xmlsoap.org/soap/envelope/');
  const second = await read();
  t.is(importProblem(fetched, second, '1.1'), undefined);
  t.is(versionProblem(fetched, second, '1.1'), undefined);
});

test('a reset restores the first values and deletes the complaints', async (t) => {
  const upstream = await startStores();
  t.teardown(upstream.close);
  const get = async (): Promise<unknown> => (await fetch(`${upstream.url}/items/1`)).json();
  const first = await get();
  await fetch(`${upstream.url}/items/1`, { method: 'PUT', body: '{"name":"x"}' });
  t.deepEqual(await get(), { name: 'x' });
  t.is(upstream.complaints.length, 1);
  upstream.reset();
  t.deepEqual(await get(), first);
  t.is(upstream.complaints.length, 0);
});

const rpc = (name: string, content: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><r:${name} xmlns:r="http://rpc.orders.example/">${content}</r:${name}></e:Body></e:Envelope>`;

test('A30: an encoded reply declares the prefix of SOAP’s own types in all places', async (t) => {
  const upstream = await startStores();
  const gateway = await serveContract('test/fixtures/adopt/orders-rpc', upstream.url);
  t.teardown(async () => {
    await gateway.stop();
    upstream.close();
  });
  const call = (content: string) =>
    send(
      Number(new URL(gateway.url).port),
      'POST',
      '/axis/services/OrdersRpc',
      { 'Content-Type': 'text/xml' },
      rpc('getOrder', content),
    );
  const { text } = await call('<orderId>1</orderId>');
  t.true(text.includes(' xmlns:soapenc="http://schemas.xmlsoap.org/soap/encoding/"'), text);
  t.true(text.includes('<labels i:type="soapenc:Array" soapenc:arrayType="soapenc:string[2]">'), text);
  t.true(text.includes('<total i:type="soapenc:decimal">129.50</total>'), text);
  const fault = await call('<orderId>404</orderId>');
  t.true(fault.text.includes('<hint i:type="soapenc:string">try &lt;1&gt; &amp; co</hint>'), fault.text);
  t.deepEqual(upstream.complaints, []);
});
