import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { screeningContract } from '../../mappings/loader/load.ts';
import { sendRaw } from '../captures/exchange.ts';
import { checks, nameOf } from '../interop/checks.ts';
import { type Served, serveContract } from '../interop/gateway.ts';
import { knownGaps } from '../interop/known-gaps.ts';
import { loadStacks } from '../interop/stacks.ts';
import { type ScriptedUpstream, startUpstream } from '../interop/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: Served;

test.before(async () => {
  upstream = await startUpstream();
  gateway = await serveContract(screeningContract, upstream.url);
});

test.after.always(async () => {
  await gateway.stop();
  upstream.close();
});

const soap11 = {
  namespace: 'http://schemas.xmlsoap.org/soap/envelope/',
  contentType: 'text/xml; charset=utf-8',
};
const soap12 = {
  namespace: 'http://www.w3.org/2003/05/soap-envelope',
  contentType: 'application/soap+xml; charset=utf-8',
};

const stacks = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) =>
  entry.isDirectory(),
);

for (const { name } of stacks) {
  // Serial, since the order shows which upstream call belongs to which request.
  test.serial(
    `what ${name} sent is the call that its caller meant, answered in its SOAP version`,
    async (t) => {
      const folder = join(import.meta.dirname, name);
      for (const file of readdirSync(folder)) {
        const check = file.replace(/-1\.[12]\.http$/, '');
        const request = readFileSync(join(folder, file));
        const before = upstream.calls.length;
        const reply = await sendRaw(gateway.url, request);
        const [call, ...more] = upstream.calls.slice(before);
        t.deepEqual(more, [], file);
        t.is(call && nameOf(call), check, `${file}: ${upstream.complaints.at(-1)}`);
        t.is(reply.status, 200, file);
        t.is(reply.headers['x-status'], undefined, file);
        const version = request.includes(soap12.namespace) ? soap12 : soap11;
        t.is(reply.headers['content-type'], version.contentType, file);
        t.true(reply.body.includes(`<s:Envelope xmlns:s="${version.namespace}">`), file);
        t.true(reply.body.includes(`<${call?.operation}Response `), file);
      }
    },
  );
}

test('each stack’s twelve calls are kept, in each SOAP version that it speaks, but for its known gaps', (t) => {
  const operations = checks.filter(({ situation }) => situation === 'call').map(nameOf);
  for (const { name, versions, folder } of loadStacks()) {
    if (!existsSync(join(folder, 'run.sh'))) continue; // only calls other services
    for (const version of versions) {
      for (const operation of operations) {
        const isGap = knownGaps.some(({ stack, check }) => stack === name && check === operation);
        const file = join(import.meta.dirname, name, `${operation}-${version}.http`);
        t.is(existsSync(file), !isGap, `${file}: \`npm run interop -- --record\` writes it`);
      }
    }
  }
});
