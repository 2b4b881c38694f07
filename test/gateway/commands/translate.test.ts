import { fileURLToPath } from 'node:url';
import test from 'ava';
import { readContract, screeningContract } from '../../../mappings/loader/load.ts';
import { file } from './file.ts';
import { run } from './run.ts';

const folder = fileURLToPath(new URL('../../fixtures/contracts/parcels', import.meta.url));
const parcels = ['--contract', folder];

const track =
  '<TrackParcel xmlns="urn:example:parcels"><number>A 1</number><detail>all</detail></TrackParcel>';
const soap = (body: string) =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const key = ['--header', 'X-Api-Key: k'];

for (const [form, message] of [
  ['a SOAP envelope', soap(track)],
  ['an operation’s element', `<?xml version="1.0"?>\n<!-- one -->\n${track}`],
] as const) {
  test(`translate prints the upstream call of ${form}`, async (t) => {
    const { code, out, err } = await run(t, ['translate', ...parcels, ...key], {}, message).ended;
    t.deepEqual([code, err], [0, '']);
    t.regex(out, /^GET \/parcels\/A%201\?detail=all\n(?:[\w-]+: .*\n)*x-api-key: k\n/);
  });
}

test('translate prints a call with its body, and JSON for scripts', async (t) => {
  const message =
    '<BookParcel xmlns="urn:example:parcels"><Body><to><name>Zoë</name></to></Body></BookParcel>';
  const text = await run(t, ['translate', ...parcels, ...key], {}, message).ended;
  t.regex(text.out, /^POST \/parcels\n(?:[\w-]+: .*\n)+\n\{"to":\{"name":"Zoë"\}\}\n$/);
  const { method, path, headers, body } = JSON.parse(
    (await run(t, ['translate', ...parcels, ...key, '--json'], {}, message).ended).out,
  );
  t.deepEqual(
    [method, path, headers['content-type'], body],
    ['POST', '/parcels', 'application/json', '{"to":{"name":"Zoë"}}'],
  );
});

test('translate accepts JSON of a named operation', async (t) => {
  const args = ['translate', ...parcels, ...key, '--operation', 'TrackParcel'];
  const { code, out } = await run(t, args, {}, '{"number":"1"}').ended;
  t.is(code, 0);
  t.regex(out, /^GET \/parcels\/1\n/);
});

test('translate of a message that the gateway refuses exits with 1 and the refusal', async (t) => {
  const { code, out, err } = await run(
    t,
    ['translate', ...parcels, ...key],
    {},
    soap('<TrackParcel xmlns="urn:example:parcels"/>'),
  ).ended;
  t.deepEqual([code, out], [1, '']);
  t.regex(err, /^rejected with status 400:\n.*<faultstring>.*number/);
});

test('translate --to xml prints the reply of an upstream response', async (t) => {
  const args = ['translate', ...parcels, '--to', 'xml', '--operation', 'TrackParcel'];
  const { code, out, err } = await run(t, args, {}, '{"grams":9007199254740993,"note":null}').ended;
  t.deepEqual([code, err], [0, '']);
  t.regex(
    out,
    /<TrackParcelResponse [^>]*><Result><note i:nil="true"\/><grams>9007199254740993<\/grams><\/Result>/,
  );
});

test('translate --to xml --status prints the fault of an upstream error', async (t) => {
  const args = [...parcels, '--to', 'xml', '--operation', 'TrackParcel', '--status', '404', '--json'];
  const { code, out } = await run(t, ['translate', ...args], {}, '{"message":"no such parcel"}').ended;
  t.is(code, 0);
  const { status, reply } = JSON.parse(out);
  t.is(status, 500);
  t.regex(reply, /<faultstring>[^<]*no such parcel/);
});

test('translate --to xml exits with 1 for a response that does not match the types', async (t) => {
  const args = ['translate', ...parcels, '--to', 'xml', '--operation', 'TrackParcel'];
  const { code, out, err } = await run(t, args, {}, '{"insured":"maybe"}').ended;
  t.deepEqual([code, out], [1, '']);
  t.regex(err, /^rejected with status 50[02]:\n.*insured/);
});

test('translate calls no server, whatever servers the document and the overlay name', async (t) => {
  const document = file(
    t,
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Texts' },
      paths: {
        '/text': {
          get: {
            operationId: 'Text',
            servers: [{ url: 'https://texts.invalid/v1' }],
            responses: { 204: { description: 'none' } },
          },
        },
      },
    }),
  );
  const overlay = file(
    t,
    'servers: { "https://texts.invalid/v1": { upstream: "https://texts.invalid/v1" } }\n',
  );
  const args = ['translate', '--openapi', document, '--overlay', overlay];
  const { code, out, err } = await run(t, args, {}, '<Text xmlns="urn:Texts"/>').ended;
  t.deepEqual([code, err], [0, '']);
  t.regex(out, /^GET \/v1\/text\n/);
});

for (const { name } of readContract(screeningContract).contract.operations) {
  test(`translate --to xml accepts ${name} of the screening contract`, async (t) => {
    const args = ['translate', '--to', 'xml', '--operation', name];
    const { code, out } = await run(t, args, {}, '{"data":{"responseStatus":{}}}').ended;
    t.is(code, 0);
    t.true(out.includes(`<${name}Response `));
  });
}

for (const [what, args, input, said] of [
  [
    'an operation that isn’t there',
    ['--operation', 'Track'],
    '{}',
    /operation: expected one of TrackParcel, .*, got "Track"/,
  ],
  ['no operation', ['--to', 'xml'], '{}', /--operation: expected the name of an operation, got none/],
  ['an element that is no operation’s', [], '<Nothing/>', /operation: expected one of .*, got "Nothing"/],
  ['a status that is none', ['--status', '99'], '{}', /expected a status from 200 to 599/],
  ['a header that is none', ['--header', 'X'], '{}', /expected a header line such as/],
] as const) {
  test(`translate with ${what} exits with 2 and a sentence`, async (t) => {
    const { code, out, err } = await run(t, ['translate', ...parcels, ...args], {}, input).ended;
    t.deepEqual([code, out], [2, '']);
    t.regex(err, said);
  });
}

test('translate shows the refusal of a response that exceeds a limit', async (t) => {
  const args = ['translate', ...parcels, '--to', 'xml', '--operation', 'TrackParcel', '--limits'];
  for (const limit of ['jsonMembers=1', 'xmlDepth=1', 'xmlElements=1', 'xmlText=1']) {
    const { code, err } = await run(t, [...args, limit], {}, '{"number":"1","state":"x"}').ended;
    t.is(code, 1, limit);
    t.regex(err, /^rejected with status \d+:\n/, limit);
    t.notRegex(err, /\n {4}at /, limit);
  }
});
