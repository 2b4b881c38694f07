import test from 'ava';
import { folderOf } from '../../plain/folders.ts';
import { type Gateway, send, startGateway } from '../gateway.ts';

let gateway: Gateway;
const ends: (() => unknown)[] = [];

test.before(async () => {
  gateway = await startGateway(
    { teardown: (end) => ends.push(end) },
    { serve: { contract: folderOf('errors') } },
  );
});
test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

const types = 'urn:Errors';
const operation = `<pets xmlns="${types}"/>`;

for (const version of [
  'http://schemas.xmlsoap.org/soap/envelope/',
  'http://www.w3.org/2003/05/soap-envelope',
])
  test.serial(
    `W27: a fault of ${version} repeats 200 characters of an upstream's message and no JSON`,
    async (t) => {
      const message = `${'x'.repeat(198)}\u{1f600}${'y'.repeat(50)}`;
      gateway.answer({ status: 500, body: JSON.stringify({ code: 'broken', message }) });
      const request = `<s:Envelope xmlns:s="${version}"><s:Body>${operation}</s:Body></s:Envelope>`;
      const { text } = await send(gateway.port, 'POST', '/soap11', { 'Content-Type': 'text/xml' }, request);
      t.true(text.includes(`broken: ${'x'.repeat(198)}… (request `), text);
      t.true(text.includes(`<message>${message}</message>`), text);
      t.true(text.includes('<upstream>{"code":"broken"'), text);
    },
  );

test.serial('W36: an error in XML has the element of a fault’s detail', async (t) => {
  const headers = { 'Content-Type': 'application/xml' };
  gateway.answer({ status: 404, body: '{"code":"gone","message":"no"}' });
  const own = await send(gateway.port, 'POST', '/xml/reply/pets', headers, operation);
  t.is(own.status, 404);
  t.regex(
    own.text,
    /^<\?xml [^>]*\?><FaultDetail xmlns="[^"]+"><status>404<\/status><upstreamStatus>404<\/upstreamStatus><code>gone<\/code><message>no<\/message><requestId>[^<]+<\/requestId><upstream>/,
  );
  const ours = await send(gateway.port, 'POST', '/xml/reply/nope', headers, `<nope xmlns="${types}"/>`);
  t.regex(ours.text, /<FaultDetail [^>]+><status>404<\/status><code>OperationNotFound<\/code>/);
  t.false(ours.text.includes('ErrorResponse'));
});
