import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readCallers } from '../../../gateway/process/callers-file.ts';
import { CallerCounts } from '../../../gateway/telemetry/caller-counts.ts';
import { compileCallerId, createCallers } from '../../../gateway/telemetry/callers.ts';
import { writeSnapshot } from '../../../gateway/telemetry/metrics.ts';
import { createMetrics } from '../../../gateway/telemetry/request-metrics.ts';
import { startStats } from '../../../gateway/telemetry/request-stats.ts';
import type { Credentials } from '../../../mappings/contract/credentials.ts';
import { defaultLimits } from '../../../mappings/contract/limits.ts';
import { ContractError } from '../../../mappings/loader/document/error.ts';
import { envelope, send, startGateway, typesNamespace } from '../gateway.ts';

const key = 'canary-key-of-pseudonyms';

/** Creates files in a temporary folder, by name. */
function filesWith<Names extends Record<string, string>>(
  t: ExecutionContext,
  files: Names,
): { readonly [Name in keyof Names]: string } {
  const folder = mkdtempSync(join(tmpdir(), 'callers-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const entries = Object.entries(files).map(([name, content]) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return [name, path];
  });
  return Object.fromEntries(entries);
}

function problemsOf(t: ExecutionContext, files: Parameters<typeof readCallers>[0]): string {
  const error = t.throws(() => readCallers(files), { instanceOf: ContractError });
  return error?.message ?? '';
}

const lines = (log: string): Record<string, unknown>[] =>
  log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('a caller has a name, or a pseudonym that is stable across processes, in log and metrics', async (t) => {
  const files = filesWith(t, { callers: 'acme: ["17"]\n', key });
  const serve = { callerFiles: { callers: files.callers, callerKey: files.key } };
  const pseudonyms: unknown[] = [];
  for (const _ of [1, 2]) {
    const gateway = await startGateway(t, { serve });
    for (const user of ['17', 'canary-18'])
      await gateway.send('POST', '/json/reply/GetSearch', { 'X-Api-User': user, 'X-Api-Key': 'k' }, '{}');
    const [named, other] = lines(gateway.log());
    t.is(named?.caller, 'acme');
    pseudonyms.push(other?.caller);
    const { text: page } = await send(gateway.port, 'GET', '/metrics');
    t.true(page.includes('soapbridge_caller_requests_total{contract="/v2",caller="acme",status="200"} 1\n'));
    t.true(page.includes(`caller="${other?.caller}",status="200"} 1\n`));
    t.false(`${gateway.log()}${page}`.includes('canary'));
  }
  t.regex(String(pseudonyms[0]), /^[\w-]{16}$/);
  t.is(pseudonyms[0], pseudonyms[1]);
});

test('the Username of a UsernameToken is the same caller as the header with that id', async (t) => {
  const { callers } = filesWith(t, { callers: 'acme: ["17"]\n' });
  const gateway = await startGateway(t, { serve: { callerFiles: { callers } } });
  const token =
    '<o:Security xmlns:o="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"><o:UsernameToken><o:Username>17</o:Username><o:Password>k</o:Password></o:UsernameToken></o:Security>';
  const body = `<GetSearch xmlns="${typesNamespace}"><Request><Id>1</Id></Request></GetSearch>`;
  await gateway.send(
    'POST',
    '/soap11',
    { 'Content-Type': 'text/xml' },
    envelope('1.1', { header: token, body }),
  );
  t.is(lines(gateway.log())[0]?.caller, 'acme');
});

const part = (name: string, header: string, secret: boolean) => ({ name, header, secret });
const credentialsOf = (...parts: ReturnType<typeof part>[]) => ({ parts }) as unknown as Credentials;
const authorization = credentialsOf(part('authorization', 'Authorization', true));

for (const [what, credentials, given, id] of [
  ['the user of Basic', authorization, 'Basic dXNlcjpjYW5hcnk=', { kind: 'id', value: 'user' }],
  ['a Bearer token', authorization, 'Bearer abc', { kind: 'secret', value: 'Bearer abc' }],
  ['Basic that is none', authorization, 'Basic dXNlcg==', { kind: 'secret', value: 'Basic dXNlcg==' }],
  ['an API key', credentialsOf(part('key', 'X-Api-Key', true)), 'k-17', { kind: 'secret', value: 'k-17' }],
] as const)
  test(`a caller is identified by ${what}`, (t) => {
    const [first] = credentials.parts;
    const all = new Map([[first?.name ?? '', given]]);
    t.deepEqual(compileCallerId(credentials)({ all, fromHeaders: new Set() }), id);
  });

test('a caller with a secret is named by its pseudonym', (t) => {
  const secret = { kind: 'secret', value: 'Bearer canary' } as const;
  const pseudonym = createCallers({ key: Buffer.from(key) }).nameOf(secret);
  const files = filesWith(t, { callers: `acme:\n  - pseudonym: ${pseudonym}\n`, key });
  t.is(readCallers({ callers: files.callers, callerKey: files.key }).nameOf(secret), 'acme');
});

test('errors of caller files have file and line, and no key', (t) => {
  const files = filesWith(t, {
    bad: 'ok: ["1"]\nother: ["2"]\nacme: ["1"]\nb c: [3]\n',
    pseudonym: 'acme:\n  - pseudonym: 0123456789abcdef\n',
    short: 'canary',
  });
  const told = problemsOf(t, { callers: files.bad });
  t.regex(told, /bad:2#\/other: expected a name of letters/);
  t.regex(told, /bad:3#\/acme\/0: expected an id of one caller, got an id of two callers/);
  t.regex(told, /bad:4#\/b c\/0: expected an id, a text in quotes/);
  t.regex(
    problemsOf(t, { callers: files.pseudonym }),
    /:2#.*expected SOAPBRIDGE_CALLER_KEY for a pseudonym, got none\. Without it pseudonyms change at each start$/,
  );
  const short = problemsOf(t, { callerKey: files.short });
  t.regex(short, /expected a key of at least 16 bytes, got 6/);
  t.false(short.includes('canary'));
  t.regex(
    problemsOf(t, { callerKey: `${files.short}.none` }),
    /expected a file with a key, got an empty file/,
  );
});

test('topCallers: two callers have series; a third counts as other until it is busier', (t) => {
  const counts = new CallerCounts(2, () => createCallers({ key: Buffer.from(key) }));
  const rows = () => [...counts.entries()].map(([caller, statuses]) => [caller, statuses.get(200)]);
  for (const caller of ['a', 'a', 'b', 'c']) counts.count(caller, 200);
  t.deepEqual(rows(), [
    ['a', 2],
    ['b', 1],
    ['other', 1],
  ]);
  counts.count('c', 200);
  t.deepEqual(rows(), [
    ['a', 2],
    ['c', 1],
    ['other', 2],
  ]);
  const none = new CallerCounts(0, () => createCallers({ key: Buffer.from(key) }));
  none.count('a', 200);
  t.deepEqual(
    [...none.entries()].map(([caller]) => caller),
    ['other'],
  );
});

test('metricOperations: two operations have series, a third counts as other', (t) => {
  const metrics = createMetrics({ ...defaultLimits, metricOperations: 2 });
  const count = metrics.counterOf('/v2');
  for (const operation of ['A', 'B', 'C', 'D', 'A'])
    count({
      ...startStats('id', 'POST'),
      operation,
      transport: 'soap11',
      status: 200,
      sent: 1,
      upstreamStatus: 201,
    });
  const page = writeSnapshot(
    metrics.read({ upstreamStates: new Map() } as unknown as Parameters<typeof metrics.read>[0]),
  );
  const rows = page.match(/operation_requests_total\{.*/g);
  t.deepEqual(rows, [
    'operation_requests_total{contract="/v2",operation="A",transport="soap11",status="200"} 2',
    'operation_requests_total{contract="/v2",operation="B",transport="soap11",status="200"} 1',
    'operation_requests_total{contract="/v2",operation="other",transport="soap11",status="200"} 2',
  ]);
  t.deepEqual(page.match(/upstream_replies_total\{.*/g), [
    'upstream_replies_total{contract="/v2",operation="A",status="201"} 2',
    'upstream_replies_total{contract="/v2",operation="B",status="201"} 1',
    'upstream_replies_total{contract="/v2",operation="other",status="201"} 2',
  ]);
});

test('the log has the address of the caller, not of a trusted proxy', async (t) => {
  const gateway = await startGateway(t, { serve: { trustedProxies: ['127.0.0.1'] } });
  const headers = { 'X-Api-User': 'u', 'X-Api-Key': 'k', 'X-Forwarded-For': '10.1.1.1, 198.51.100.7' };
  await gateway.send('POST', '/json/reply/GetSearch', headers, '{}');
  t.is(lines(gateway.log())[0]?.clientIp, '198.51.100.7');
});
