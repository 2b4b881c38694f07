import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Running } from '../../gateway/serve.ts';
import { sendRaw } from '../captures/exchange.ts';
import { nameOf } from '../interop/checks.ts';
import { startGateway } from '../interop/gateway.ts';
import { type ScriptedUpstream, startUpstream } from '../interop/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: Running;

test.before(async () => {
  upstream = await startUpstream();
  gateway = await startGateway(upstream.url);
});

test.after.always(async () => {
  await gateway.stop(0);
  upstream.close();
});

const stacks = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

for (const { name } of stacks) {
  // One after another: which call upstream belongs to which request is told by their order.
  test.serial(
    `what ${name} sent reaches the service behind as its caller meant it, and is answered`,
    async (t) => {
      const folder = join(import.meta.dirname, name);
      for (const file of readdirSync(folder)) {
        const [, check, version] = /^(.*)-(1\.[12])\.http$/.exec(file) ?? [];
        const before = upstream.calls.length;
        const reply = await sendRaw(gateway.url, readFileSync(join(folder, file)));
        const [call, ...more] = upstream.calls.slice(before);
        t.deepEqual(more, [], file);
        t.is(call && nameOf(call), check, `${file}: ${upstream.complaints.at(-1)}`);
        t.is(reply.status, 200, file);
        t.is(reply.headers['x-status'], check === 'in-band-error' ? '404' : undefined, file);
        t.is(reply.headers['content-type'], contentTypes[versionOf(reply.body)], file);
        t.regex(reply.body, new RegExp(`<s:Body><${call?.operation}Response [^>]*><Data>`), file);
        t.truthy(version, file);
      }
    },
  );
}

const contentTypes = {
  soap11: 'text/xml; charset=utf-8',
  soap12: 'application/soap+xml; charset=utf-8',
} as const;

/** The SOAP version that a reply came in. */
function versionOf(body: string): keyof typeof contentTypes {
  return body.includes('xmlns:s="http://www.w3.org/2003/05/soap-envelope"') ? 'soap12' : 'soap11';
}
