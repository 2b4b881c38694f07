import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { loadAdoptedService } from '../../../mappings/loader/wsdl/load-adopted.ts';
import { send } from '../../gateway/gateway.ts';
import { serveContract } from '../gateway.ts';
import { loadStacks } from '../stacks.ts';
import { isCalledBy } from './call.ts';
import { services } from './checks.ts';
import { serviceGaps } from './gaps.ts';
import { startStores } from './upstream.ts';

const stacks = loadStacks();

for (const { name, folder, path } of services) {
  if (path === undefined) continue;
  test(`${name}: all operations of the WSDL are served, at the path of its address`, (t) => {
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

test('each gap is of a check of a stack that calls the service', (t) => {
  for (const { stack, service, check } of serviceGaps) {
    const caller = stacks.find(({ name }) => name === stack);
    const called = services.find(({ name }) => name === service);
    t.true(caller !== undefined && called !== undefined && isCalledBy(caller, called), `${stack} ${service}`);
    const checks = called?.checks ?? {};
    t.true(check === undefined || check in checks, `${stack} ${service} ${check}`);
  }
});

const rpc = (name: string, content: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><r:${name} xmlns:r="http://rpc.orders.example/">${content}</r:${name}></e:Body></e:Envelope>`;

test('A30: an encoded reply declares the prefix of SOAP’s own types, of members, arrays and faults', async (t) => {
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
