import test from 'ava';
import { FaultCounts, maxFaultCounts } from '../../../gateway/telemetry/caller-counts.ts';
import { file } from '../commands/file.ts';
import { envelope, send, sharedGateway, startGateway, typesNamespace } from '../gateway.ts';

const gateway = await sharedGateway();

const ann = { 'X-Api-User': 'ann', 'X-Api-Key': 'k', 'User-Agent': 'Legacy/2.0' };
const soap11 = { 'Content-Type': 'text/xml', SOAPAction: '"GetSearch"', ...ann };
const soap12 = { 'Content-Type': 'application/soap+xml', ...ann };
const json = { 'Content-Type': 'application/json', ...ann };

const idOf = (text: string): string =>
  `<GetSearch xmlns="${typesNamespace}"><Request><Id>${text}</Id></Request></GetSearch>`;

type Message = readonly [path: string, headers: Readonly<Record<string, string>>, body: string];

/** Refused messages with a value `Secret`, and the line that the log has of each. */
const refused: readonly (readonly [title: string, message: Message, line: object])[] = [
  [
    'a wrong type in SOAP 1.1',
    ['/soap11', soap11, envelope('1.1', { body: idOf('Secret') })],
    {
      error: 'ValidationError',
      refusal: [{ code: 'InvalidType', path: 'Request.Id', got: 'a text' }],
    },
  ],
  [
    'a wrong type in SOAP 1.2',
    ['/soap12', soap12, envelope('1.2', { body: idOf('Secret') })],
    { error: 'ValidationError', refusal: [{ code: 'InvalidType', got: 'a text' }] },
  ],
  [
    'a wrong type in JSON',
    ['/json/reply/GetSearch', json, '{"request":{"id":"Secret"}}'],
    { error: 'ValidationError', refusal: [{ code: 'InvalidType' }] },
  ],
  [
    'an unknown element',
    ['/soap11', soap11, envelope('1.1', { body: idOf('1').replace('</Id>', '</Id><Secret/>') })],
    { error: 'ValidationError', refusal: [{ code: 'UnknownElement', path: 'Request.*' }] },
  ],
  [
    'malformed SOAP',
    ['/soap11', soap11, '<Secret></b>'],
    { fault: 'MalformedRequest', refusal: [{ expected: '</*>' }] },
  ],
  [
    'an unknown prefix',
    ['/soap11', soap11, '<Secret:a/>'],
    { fault: 'MalformedRequest', refusal: [{ expected: 'a bound prefix', got: 'another value' }] },
  ],
  [
    'another root',
    ['/soap11', soap11, '<Secret/>'],
    { fault: 'InvalidEnvelope', refusal: [{ expected: 'a SOAP Envelope', got: 'another element' }] },
  ],
  [
    'an unknown operation',
    ['/soap11', soap11, envelope('1.1', { body: '<Secret xmlns="urn:x"/>' })],
    { fault: 'OperationNotFound' },
  ],
  [
    'malformed JSON',
    ['/json/reply/GetSearch', json, '{"Secret":'],
    { error: 'MalformedRequest', refusal: [{ got: 'the end' }] },
  ],
];

for (const [title, [path, headers, body], line] of refused)
  test.serial(`the log of ${title} has its mistake without the value`, async (t) => {
    const before = gateway.log().length;
    await gateway.send('POST', path, headers, body);
    const text = gateway.log().slice(before);
    t.notRegex(text, /Secret/i, text);
    const parsed = JSON.parse(text);
    t.like(parsed, line, text);
    t.like(parsed, { level: 40, path: `/v2${path}`, userAgent: 'Legacy/2.0' });
    t.is(parsed.refusal.length, 1);
  });

test.serial('a successful call has level 30 and neither path nor mistakes', async (t) => {
  const before = gateway.log().length;
  await gateway.send('POST', '/json/reply/GetSearch', json, '{}');
  const line = JSON.parse(gateway.log().slice(before));
  t.is(line.level, 30);
  t.false('path' in line || 'userAgent' in line || 'refusal' in line);
});

test.serial(
  'the level follows the outcome: 404 of the upstream is 40, an unusable reply is 50',
  async (t) => {
    for (const [status, level] of [
      [404, 40],
      [500, 50],
    ] as const) {
      gateway.answer({ status, body: '{}' });
      const before = gateway.log().length;
      await gateway.send('POST', '/json/reply/GetSearch', json, '{}');
      t.is(JSON.parse(gateway.log().slice(before)).level, level);
    }
    gateway.answer({ body: '{"data":{"responseStatus":{}}}' });
  },
);

test.serial('faults_total counts failures by code, operation and caller', async (t) => {
  const callers = file(t, 'acme: ["ann"]', 'callers.yaml');
  const own = await startGateway(t, { serve: { callerFiles: { callers } } });
  await own.send('POST', '/soap11', soap11, '<broken');
  await own.send('POST', '/soap11', { ...soap11, 'X-Api-User': 'bob' }, '<broken');
  await own.send('POST', '/soap11', soap11, envelope('1.1', { body: idOf('x') }));
  await own.send('POST', '/json/reply/GetSearch', {}, '{}');
  await own.send('POST', '/json/reply/GetSearch', json, '{}');
  const { text } = await send(own.port, 'GET', '/metrics');
  const lines = text.split('\n').filter((each) => each.startsWith('soapbridge_faults_total'));
  t.deepEqual(lines.toSorted(), [
    'soapbridge_faults_total{contract="/v2",code="MalformedRequest",operation="",caller="acme"} 1',
    'soapbridge_faults_total{contract="/v2",code="MalformedRequest",operation="",caller="other"} 1',
    'soapbridge_faults_total{contract="/v2",code="Unauthorized",operation="GetSearch",caller=""} 1',
    'soapbridge_faults_total{contract="/v2",code="ValidationError",operation="GetSearch",caller="acme"} 1',
  ]);
});

test('above the maximum, failures are counted by code only', (t) => {
  const counts = new FaultCounts();
  for (let caller = 0; caller < maxFaultCounts; caller++) counts.count('A', 'o', `c${caller}`);
  t.is([...counts.entries()].length, maxFaultCounts);
  counts.count('A', 'o', 'c0');
  counts.count('A', 'o', 'new');
  counts.count('A', 'p', 'new');
  const all = new Map(counts.entries());
  t.is(all.size, maxFaultCounts + 1);
  t.is(all.get('code="A",operation="o",caller="c0"'), 2);
  t.is(all.get('code="A",operation="other",caller="other"'), 2);
});
