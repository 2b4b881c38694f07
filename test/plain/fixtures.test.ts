import { join } from 'node:path';
import test from 'ava';
import { type Gateway, type Hit, send, soap11Namespace, startGateway } from '../gateway/gateway.ts';
import { capabilities, type Exchange, exchangesIn, folderOf, goldensOf, readText } from './folders.ts';

/** Headers that are the connection's, not the call's. */
const connectionHeaders = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);

/** A call as `call.http` has it. */
function told({ method, path, headers, body }: Hit): object {
  const own = Object.entries(headers).filter(([name]) => !connectionHeaders.has(name));
  return { start: `${method} ${path} HTTP/1.1`, headers: Object.fromEntries(own), body };
}

const gateways = new Map<string, Gateway>();
const ends: (() => unknown)[] = [];

test.before(async () => {
  for (const capability of capabilities) {
    if (exchangesIn(capability).length === 0) continue;
    const served = { serve: { contract: folderOf(capability) } };
    gateways.set(capability, await startGateway({ teardown: (end) => ends.push(end) }, served));
  }
});

test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

for (const capability of capabilities) {
  test(`${capability}: the document becomes the schema and the notes that stand beside it`, (t) => {
    for (const [name, text] of Object.entries(goldensOf(capability)))
      t.is(readText(join(folderOf(capability), name)) ?? '', text.replace(/\n$/, ''), name);
  });

  for (const fixture of exchangesIn(capability)) {
    // one after the other, as each has an answer of its own
    test.serial(`${capability}: ${fixture.name.replaceAll('-', ' ')}`, async (t) => {
      const gateway = gateways.get(capability);
      if (gateway === undefined) return t.fail('no gateway serves it');
      const { calls, reply } = await exchange(gateway, fixture);
      t.deepEqual(calls.map(told), fixture.call === undefined ? [] : [fixture.call]);
      const content = /<(?:\w+:)?Body>(.*)<\/(?:\w+:)?Body>/s.exec(reply.text)?.[1];
      // a fault names its request, each time another one
      t.is(content?.replace(/ \(request [\w-]+\)/, ''), fixture.reply);
    });
  }
}

async function exchange(gateway: Gateway, { request, answer }: Exchange) {
  const before = gateway.hits.length;
  gateway.answer((_, response) => {
    response.writeHead(Number(answer.start.split(' ')[1]), answer.headers);
    response.end(answer.body);
  });
  const { pathname } = new URL(gateway.running.address);
  const envelope = `<s:Envelope xmlns:s="${soap11Namespace}"><s:Body>${request}</s:Body></s:Envelope>`;
  const headers = { 'Content-Type': 'text/xml; charset=utf-8' };
  const reply = await send(gateway.port, 'POST', `${pathname.replace(/\/$/, '')}/soap11`, headers, envelope);
  return { calls: gateway.hits.slice(before), reply };
}
