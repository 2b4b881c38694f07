import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextIteration } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import {
  readReplayCredentials,
  withCredentials,
} from '../../gateway/migration/recording/replay-credentials.ts';
import { replayInOrder } from '../../gateway/migration/recording/replay-schedule.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { run } from '../gateway/commands/run.ts';
import { until } from '../until.ts';
import {
  getCall,
  getReply,
  type RecordingOptions,
  type RecordingSite,
  startRecording,
} from './recording-site.ts';
import { contractFolder } from './scenario.ts';

const xml = { 'content-type': 'text/xml' };

/** Records a number of calls of `Get`. */
async function record(
  t: ExecutionContext,
  count: number,
  options: RecordingOptions = {},
): Promise<RecordingSite> {
  const site = await startRecording(t, options);
  for (let number = 1; number <= count; number++) {
    site.legacy.answer = { status: 200, headers: xml, body: getReply(`<Long>${number}</Long>`) };
    await site.send(getCall);
    await until(() => site.recorded().length === number);
  }
  site.upstream.answer = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"Long":1}',
  };
  return site;
}

/** Runs a command about the recordings of a site. */
function soapbridge(t: ExecutionContext, site: RecordingSite, args: readonly string[]) {
  const key = ['--caller-key', join(site.folder, 'key')];
  return run(t, [...args, '--config', site.config, ...key, '--limits', 'storeMs=60000']).ended;
}

/** Returns the files of a folder with their contents. */
function contentsOf(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}

test.serial('G58: equal data give equal bytes, and an exchange has its files', async (t) => {
  const site = await record(t, 2);
  const folders = ['one', 'two'].map((name) => join(site.folder, name));
  for (const folder of folders) {
    const { code, out } = await soapbridge(t, site, ['record', 'export', '--out', folder]);
    t.is(code, 0);
    t.is(out, `2 exchanges exported to ${folder}\n`);
  }
  const [one = [], two] = folders.map(contentsOf);
  t.deepEqual(one, two);
  const files = new Map(one);
  t.deepEqual(
    [...files.keys()],
    [
      ...['legacy.json', 'legacy.xml', 'meta.json', 'request.xml'].map((name) => `000001-Get/${name}`),
      ...['legacy.json', 'legacy.xml', 'meta.json', 'request.xml'].map((name) => `000002-Get/${name}`),
      'corpus.json',
    ],
  );
  t.is(files.get('000002-Get/legacy.json'), '{"Long":2}');
  t.is(files.get('000002-Get/legacy.xml'), getReply('<Long>2</Long>'));
  t.like(JSON.parse(files.get('corpus.json') ?? ''), { contract: '/', redaction: 'pseudonyms', count: 2 });
  const again = await soapbridge(t, site, ['record', 'export', '--out', folders[0] ?? '']);
  t.is(again.code, 2);
  t.regex(again.err, /--out: expected a new or empty folder, got /);
});

test.serial('G58: recordings with personal data need --with-personal-data', async (t) => {
  const site = await record(t, 1, { record: { redact: 'none' } });
  t.true(site.log().some(({ msg }) => String(msg).includes('recordings contain personal data')));
  const out = join(site.folder, 'out');
  const refused = await soapbridge(t, site, ['record', 'export', '--out', out]);
  t.is(refused.code, 2);
  t.regex(refused.err, /Add --with-personal-data/);
  rmSync(out, { recursive: true });
  const allowed = await soapbridge(t, site, ['record', 'export', '--out', out, '--with-personal-data']);
  t.is(allowed.code, 0);
  t.like(JSON.parse(readFileSync(join(out, 'corpus.json'), 'utf8')), { redaction: 'none' });
});

test.serial('G59: selects exchanges by number, time and operation', async (t) => {
  const site = await record(t, 3);
  const [, second] = site.recorded();
  const since = new Date(second?.at ?? 0).toISOString();
  const counts = [
    [['--limit', '2'], 2],
    [['--since', since], 2],
    [['--until', since], 1],
    [['--since', '1h', '--operation', 'Get'], 3],
  ] as const;
  for (const [args, count] of counts) {
    const { out } = await soapbridge(t, site, [
      ...['replay', '--against', site.upstream.url, '--rate', '1000/s', '--format', 'json'],
      ...args,
    ]);
    t.is(JSON.parse(out).compared, count, args.join(' '));
  }
});

test.serial('G59: an unanswered call fails --require, and a report in a file has its format', async (t) => {
  const site = await record(t, 2);
  let calls = 0;
  const { upstream } = site;
  const answer = upstream.answer;
  upstream.onHit = () => {
    upstream.answer = calls++ === 0 ? answer : { fails: 'resetAfterRequest' };
  };
  const file = join(site.folder, 'report.xml');
  const { code, out } = await soapbridge(t, site, [
    ...['replay', '--against', upstream.url, '--rate', '1000/s'],
    ...['--format', 'junit', '--report', file],
  ]);
  t.is(code, 1);
  t.is(out, '');
  const report = readFileSync(file, 'utf8');
  t.regex(report, /without a reply: 1\n/);
  t.regex(report, /<\/testsuite>\n$/);
});

test.serial('G59: writes need --sandbox and another service, and the report lists them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-writes-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  cpSync(contractFolder('contracts/types'), folder, { recursive: true });
  writeFileSync(join(folder, 'soap.yaml'), 'wsdl: Types.wsdl\n');
  const site = await record(t, 1, { contract: folder });
  const args = ['replay', '--format', 'json', '--against'];
  const other = site.upstream.url.replace('127.0.0.1', 'localhost');
  const left = await soapbridge(t, site, [...args, other]);
  t.is(left.code, 3);
  t.like(JSON.parse(left.out), { compared: 0, notReplayedCount: 1 });
  t.like(JSON.parse(left.out).notReplayed[0], {
    operation: 'Get',
    reason: 'it is a write: add --sandbox to replay it',
  });
  const legacy = await soapbridge(t, site, [...args, site.legacy.url, '--sandbox']);
  t.is(
    legacy.err.trim(),
    'expected a URL other than upstream and legacy with --sandbox, got the legacy service',
  );
  const sent = await soapbridge(t, site, [...args, other, '--sandbox']);
  t.is(sent.code, 0, sent.err);
  t.is(site.upstream.hits.length, 1);
});

test.serial('G59: an exported read whose message is a write is not sent', async (t) => {
  const folder = contractFolder('contracts/orders');
  const site = await startRecording(t, { contract: folder });
  const body = (local: string) =>
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><${local} xmlns="http://orders.example/"><orderId>17</orderId></${local}></s:Body></s:Envelope>`;
  site.legacy.answer = { status: 200, headers: xml, body: body('GetOrderResponse') };
  await site.send({ ...getCall, path: '/shop/Orders.asmx', body: body('GetOrder') });
  await until(() => site.recorded().length === 1);
  const corpus = join(site.folder, 'corpus');
  t.is((await soapbridge(t, site, ['record', 'export', '--out', corpus])).code, 0);
  writeFileSync(join(corpus, '000001-GetOrder', 'request.xml'), body('CancelOrder'));
  const args = ['replay', '--against', site.upstream.url, '--from', corpus, '--format', 'json'];
  const { code, out, err } = await soapbridge(t, site, args);
  t.is(code, 3, err);
  t.is(JSON.parse(out).notReplayed[0]?.reason, 'its message has another operation');
  t.is(site.upstream.hits.length, 0);
});

test.serial('G59: invalid input has exit code 2 and says what is expected', async (t) => {
  const site = await record(t, 0);
  const against = ['replay', '--against', 'http://127.0.0.1:1'];
  const cases = [
    [[...against, '--rate', '0/s'], '--rate: expected a load such as 10/s or 30/m, got 0/s'],
    [[...against, '--concurrency', '0'], '--concurrency: expected a number from 1 on, got 0'],
    [[...against, '--since', 'soon'], '--since: expected a time such as'],
    [[...against, '--operation', 'Put'], '--operation: expected an operation of the contract, got Put'],
    [[...against, '--from', site.folder], 'corpus.json: expected a file of an export, got none'],
    [['replay', '--against', 'ftp://x'], '--against: expected an http or https URL'],
  ] as const;
  for (const [args, message] of cases) {
    const { code, err } = await soapbridge(t, site, args);
    t.is(code, 2, err);
    t.true(err.includes(message), err);
  }
});

test('G60: one call per caller at a time in order, callers concurrently, up to the concurrency', async (t) => {
  const callers = ['a', 'b', 'c'];
  const exchanges = Array.from({ length: 30 }, (_, index) => ({ caller: callers[index % 3], index }));
  const done: { readonly caller: string | undefined; readonly index: number }[] = [];
  const active = new Set<string | undefined>();
  let most = 0;
  await replayInOrder(
    (async function* () {
      yield* exchanges;
    })(),
    { rate: 1e6, concurrency: 2 },
    async (exchange) => {
      t.false(active.has(exchange.caller));
      active.add(exchange.caller);
      most = Math.max(most, active.size);
      await nextIteration();
      active.delete(exchange.caller);
      done.push(exchange);
    },
  );
  t.is(most, 2);
  for (const caller of callers)
    t.deepEqual(
      done.filter((one) => one.caller === caller),
      exchanges.filter((one) => one.caller === caller),
    );
});

test('G60: the rate limits the calls of all callers', async (t) => {
  const began = performance.now();
  const exchanges = Array.from({ length: 5 }, (_, index) => ({ caller: String(index) }));
  await replayInOrder(
    (async function* () {
      yield* exchanges;
    })(),
    { rate: 100, concurrency: 5 },
    async () => {},
  );
  t.true(performance.now() - began >= 39);
});

const wsse = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const { contract } = readContract(contractFolder('contracts/orders'));
const secured = `<s:Envelope><s:Header><w:Security xmlns:w="${wsse}" s:mustUnderstand="1">***</w:Security><x>***</x></s:Header></s:Envelope>`;

test('G60: creates Timestamp and UsernameToken again', (t) => {
  const credentials = { username: 'ann', password: 'a<b\u20ac' };
  const [one, other] = [1, 2].map(() =>
    withCredentials(Buffer.from(secured), contract, credentials).toString(),
  );
  t.regex(one ?? '', /<u:Timestamp [^>]*><u:Created>\d{4}-[^<]*<\/u:Created><u:Expires>/);
  t.true(one?.includes('<s:Username>ann</s:Username>'));
  t.true(one?.includes('a&lt;b&#8364;</s:Password>'));
  t.true(one?.endsWith('</w:Security><x>***</x></s:Header></s:Envelope>'));
  t.not(one, other);
});

test('G60: a Security block without credentials cannot be replayed', (t) => {
  t.throws(() => withCredentials(Buffer.from(secured), contract, {}), {
    message: 'its Security block needs username and password of --credentials',
  });
});

test('G60: replaces hidden credentials in the message', (t) => {
  const part = {
    name: 'SessionHeader.session',
    xml: 'session',
    header: 'X-Session',
    sent: { in: 'header', name: 'X-Session' },
    required: false,
    secret: true,
    moved: { block: 'SessionHeader', path: ['session'], format: '{}' },
  } as const;
  const own = { ...contract, credentials: { member: undefined, send: 'headers', parts: [part] } } as const;
  const message = Buffer.from('<a><b:session id="1">***</b:session><c>***</c></a>');
  const values = new Map([['SessionHeader.session', 'new']]);
  t.is(
    withCredentials(message, own, { values }).toString(),
    '<a><b:session id="1">new</b:session><c>***</c></a>',
  );
  t.throws(() => withCredentials(message, own, {}), {
    message: 'it needs the value SessionHeader.session of --credentials',
  });
});

test('G60: errors in the file of credentials name the place and no secret', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-credentials-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'credentials.yaml');
  writeFileSync(file, 'acme: { username: ann, pasword: s3cret }\n');
  const error = t.throws(() => readReplayCredentials(file), { instanceOf: ContractError });
  t.true(error?.message.includes('pasword'));
  t.false(error?.message.includes('s3cret'));
});
