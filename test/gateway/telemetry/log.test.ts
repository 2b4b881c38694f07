import { deepStrictEqual } from 'node:assert';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import { auditInLog } from '../../../gateway/telemetry/audit.ts';
import { LineBuffer } from '../../../gateway/telemetry/line-buffer.ts';
import { compileRequestLine, describeError } from '../../../gateway/telemetry/log.ts';
import { addSnapshots, type Snapshot, writeSnapshot } from '../../../gateway/telemetry/metrics.ts';
import { type Observed, observeAll } from '../../../gateway/telemetry/observer.ts';
import { createMetrics } from '../../../gateway/telemetry/request-metrics.ts';
import {
  type RequestRecord,
  startStats,
  type WriteOutcome,
} from '../../../gateway/telemetry/request-stats.ts';
import { idleUpstream } from '../../../gateway/upstream/upstream.ts';
import { compile, screening } from '../../mappings/codec/contracts.ts';
import { folderOf } from '../../plain/folders.ts';
import { fc } from '../../property.ts';
import { emptyReply, envelope, type Gateway, send, startGateway, typesNamespace } from '../gateway.ts';

const credentials = { 'X-Api-User': 'canary-user', 'X-Api-Key': 'canary-key', 'X-User-Id': 'canary-id' };

test('a request is one JSON line with operation and outcome, and without the caller’s data', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({
    status: 404,
    body: '{"responseStatus":{"errorCode":"NotFound","message":"no canary-name"}}',
  });
  await gateway.send(
    'POST',
    '/json/reply/GetSearch?format=xml',
    { ...credentials, 'X-Request-Id': 'caller-0001' },
    '{"request":{"subUserName":"canary-name"}}',
  );
  const lines = gateway.log().trim().split('\n');
  t.is(lines.length, 1);
  const { time, ms, bytesOut, upstreamMs, caller, ...line } = JSON.parse(lines[0] ?? '');
  t.true(Number.isInteger(time) && ms > 0 && bytesOut > 100 && upstreamMs > 0 && upstreamMs < ms);
  t.regex(caller, /^[\w-]{16}$/);
  t.deepEqual(line, {
    level: 40,
    requestId: 'caller-0001',
    method: 'POST',
    contract: '/v2',
    transport: 'json',
    operation: 'GetSearch',
    status: 404,
    bytesIn: 41,
    clientIp: '127.0.0.1',
    upstreamStatus: 404,
    error: 'NotFound',
    path: '/v2/json/reply/GetSearch',
  });
  t.false(gateway.log().includes('canary'));
});

test('untyped values of a reply that pass are counted', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: folderOf('enums') } });
  gateway.answer({ body: '{"closed":"canary","folded":"any"}' });
  const reply = await send(
    gateway.port,
    'POST',
    '/soap11',
    { 'Content-Type': 'text/xml' },
    envelope('1.1', { body: '<putEnums xmlns="urn:Enums"/>' }),
  );
  t.regex(reply.text, /<closed>canary</);
  t.deepEqual(lineOf(gateway, 'noted').noted, {
    ignored: [],
    quirks: 0,
    dropped: 0,
    missing: 0,
    replaced: 0,
    passed: 1,
  });
});

test('numbers beyond a .NET decimal or a double are unchanged, and counted', async (t) => {
  const number = (format?: string): object => ({
    type: 'number',
    ...(format === undefined ? {} : { format }),
  });
  const properties = { a: number(), b: number(), c: number('double'), d: number('double') };
  const schema = { type: 'object', properties };
  const contract = mkdtempSync(join(tmpdir(), 'numbers-'));
  t.teardown(() => rmSync(contract, { recursive: true }));
  const document = {
    openapi: '3.1.0',
    info: { title: 'Numbers' },
    paths: {
      '/n': {
        get: {
          operationId: 'n',
          responses: { 200: { description: 'n', content: { 'application/json': { schema } } } },
        },
      },
    },
  };
  writeFileSync(join(contract, 'openapi.json'), JSON.stringify(document));
  const gateway = await startGateway(t, { serve: { contract } });
  const large = `1${'0'.repeat(29)}`;
  gateway.answer({ body: `{"a":${large},"b":${'9'.repeat(28)},"c":1e-400,"d":0e-400}` });
  const body = envelope('1.1', { body: '<n xmlns="urn:Numbers"/>' });
  const { text } = await send(gateway.port, 'POST', '/soap11', { 'Content-Type': 'text/xml' }, body);
  t.true(text.includes(`<a>${large}</a>`), text);
  t.true(text.includes('<c>1e-400</c>'), text);
  t.like(lineOf(gateway, 'noted').noted, { inexact: 2 });
});

test('W10, W12, W20, W21: tolerated deviations are counted, and logged only by name', async (t) => {
  const gateway = await startGateway(t, { overlay: 'unknownElements: ignore' });
  gateway.answer({ body: '{"data":{"responseStatus":{},"subUser":{"name":"a\\u0001","nick":"canary"}}}' });
  const body = `<UpdateSubUser xmlns="${typesNamespace}"><Request><SubUserName>a&#xB;b&#xD83D;&#xDE00;</SubUserName><Nick>canary</Nick></Request></UpdateSubUser>`;
  const reply = await gateway.send('POST', '/xml/reply/UpdateSubUser', credentials, body);
  t.is(reply.status, 200);
  t.regex(reply.text, /<Name>a\ufffd<\/Name>/);
  t.is(gateway.hits[0]?.body.includes('"subUserName":"a\\u000bb😀"'), true);
  t.deepEqual(lineOf(gateway, 'noted').noted, {
    ignored: ['Nick'],
    quirks: 2,
    dropped: 1,
    missing: 0,
    replaced: 1,
    passed: 0,
    members: ['data.subUser.nick: dropped, as SubUser lacks it'],
  });
  const { text: page } = await send(gateway.port, 'GET', '/metrics');
  t.true(page.includes('reply_members_dropped_total{contract="/v2",operation="UpdateSubUser"} 1\n'));
  t.false(page.includes('reply_members_missing_total{'));
  t.false(gateway.log().includes('canary'));
});

const lineOf = (gateway: Gateway, text: string): Record<string, unknown> =>
  JSON.parse(
    gateway
      .log()
      .split('\n')
      .findLast((line) => line.includes(text)) ?? '{}',
  );

test('W25: a caller always has the same pseudonym, others have others, and none is the id', async (t) => {
  const gateway = await startGateway(t);
  const callers: unknown[] = [];
  for (const user of ['canary-a', 'canary-b', 'canary-a']) {
    await gateway.send('POST', '/json/reply/GetSearch', { 'X-Api-User': user, 'X-Api-Key': 'k' }, '{}');
    callers.push(lineOf(gateway, 'GetSearch').caller);
  }
  t.is(callers[0], callers[2]);
  t.not(callers[0], callers[1]);
  t.false(gateway.log().includes('canary'));
});

test('an errorCode invented by the upstream is logged as unknown, not by its text', async (t) => {
  const gateway = await startGateway(t);
  gateway.answer({ status: 400, body: '{"responseStatus":{"errorCode":"canary-code"}}' });
  const reply = await gateway.send('POST', '/json/reply/GetSearch', credentials, '{}');
  t.true(reply.text.includes('canary-code'));
  t.is(lineOf(gateway, 'GetSearch').error, 'Upstream');
});

test('the log has kind and positions of an error, and nothing of its message', (t) => {
  const { error, at } = describeError(new RangeError('no\n    at canary (canary:1:1)\ncanary'));
  t.is(error, 'RangeError');
  t.true(at.length > 0);
  t.false(at.join().includes('canary'));
  t.deepEqual(describeError('canary'), { error: 'string', at: [] });
  t.is(describeError(Object.assign(new Error('canary'), { code: 'ENOSPC' })).code, 'ENOSPC');
  t.false('code' in describeError(Object.assign(new Error('canary'), { code: 'a canary' })));
});

const block = (name: string): string => `<a:${name} xmlns:a="urn:a" e:mustUnderstand="1"/>`;
const unanswered: readonly (readonly [
  fault: string,
  message: string,
  headers: Readonly<Record<string, string>>,
  block?: string,
])[] = [
  ['MalformedRequest', '<', {}],
  ['MalformedRequest', envelope('1.1', { body: '<GetPdf>' }), {}],
  ['InvalidEnvelope', '<a/>', {}],
  ['InvalidEnvelope', envelope('1.1', { body: '' }), {}],
  ['OperationNotFound', envelope('1.1', { body: '<GetPdfs/>' }), {}],
  // Axis 1.4 writes characters beyond the Basic Multilingual Plane as surrogates
  ['OperationNotFound', envelope('1.1', { body: '<GetPdfs>&#xD83D;&#xDE00;</GetPdfs>' }), {}],
  ['MalformedRequest', envelope('1.1', { body: '<GetPdfs>&#xD83D;</GetPdfs>' }), {}],
  ['OperationNotFound', envelope('1.1', { body: '<GetPdf xmlns="urn:other"/>' }), {}],
  ['WrongAction', envelope('1.1'), { SOAPAction: 'GetPdf' }],
  ['InvalidHeader', envelope('1.1', { header: '<a e:mustUnderstand="2"/>' }), {}],
  ['MustUnderstand', envelope('1.1', { header: block('B') }), {}, '{urn:a}B'],
  ['MustUnderstand', envelope('1.1', { header: block('B'.repeat(65)) }), {}, `{urn:a}${'B'.repeat(64)}`],
  ['VersionMismatch', '<Envelope/>', {}],
];

for (const [fault, message, headers, told] of unanswered) {
  test(`the log explains why no operation answers: ${fault} of ${message.slice(0, 160)}`, async (t) => {
    const gateway = await startGateway(t);
    await gateway.send('POST', '/soap11', headers, message);
    const line = lineOf(gateway, 'soap11');
    t.is(line.fault, fault);
    t.is(line.block, told);
    t.regex(JSON.stringify(line.refusal), /"expected":"[^"].*"got":"/);
  });
}

test('the log line has faults, retries and refusals', async (t) => {
  const gateway = await startGateway(t);
  await gateway.send('POST', '/soap11', {}, '<');
  t.is(lineOf(gateway, 'soap11').fault, 'MalformedRequest');
  await gateway.send('POST', '/soap12', { 'Content-Type': 'multipart/a' }, '<');
  t.is(lineOf(gateway, 'soap12').error, 'UnsupportedMediaType');
  await gateway.send('POST', '/soap12', {}, envelope('1.2', { body: '<GetPdf/>' }));
  t.is(lineOf(gateway, 'soap12').error, 'Unauthorized');
  gateway.answer((_hit, response) => {
    if (gateway.hits.length === 1) response.destroy();
    else response.end(emptyReply);
  });
  await gateway.send('POST', '/soap11', {}, envelope('1.1'));
  const { status, upstreamStatus, retry } = lineOf(gateway, 'soap11');
  t.deepEqual({ status, upstreamStatus, retry }, { status: 200, upstreamStatus: 200, retry: true });
});

// --- audit -----------------------------------------------------------------------------------------------

const write = '{"request":{"subUserName":"canary-name"}}';

for (const [what, answer, outcome, upstreamStatus] of [
  ['that is done', { body: emptyReply }, 'answered', 200],
  ['that is refused', { status: 404, body: '{}' }, 'answered', 404],
  ['that breaks', 'destroy', 'unknown', 0],
] as const) {
  test(`a write ${what} has an audit line before it is sent, and its outcome in the request’s line`, async (t) => {
    const gateway = await startGateway(t);
    let before = '';
    gateway.answer((_hit, response) => {
      before = gateway.log();
      if (answer === 'destroy') response.destroy();
      else response.writeHead('status' in answer ? answer.status : 200).end(answer.body);
    });
    await gateway.send('PUT', '/subusers/update', { ...credentials, 'X-Request-Id': 'caller-0002' }, write);
    const { time, caller, writeId, ...sending } = JSON.parse(before);
    t.is(typeof writeId, 'string');
    t.true(time > 0);
    const about = { level: 30, requestId: 'caller-0002', operation: 'UpdateSubUser' };
    t.deepEqual(sending, { ...about, audit: 'sending' });
    const { upstreamMs, time: later, ...settled } = lineOf(gateway, '"settled"');
    t.true(Number(later) >= time && Number(upstreamMs) > 0);
    const level = outcome === 'unknown' ? 50 : upstreamStatus === 404 ? 40 : 30;
    t.like(settled, {
      ...about,
      level,
      caller,
      writeId,
      audit: 'settled',
      outcome,
      transport: 'rest',
      upstreamStatus,
    });
    t.is(gateway.log().trim().split('\n').length, 2);
    t.false(gateway.log().includes('canary'));
  });
}

function auditedCall(requestId: string): Observed {
  const stats = startStats(requestId, 'POST');
  Object.assign(stats, { operation: 'UpdateSubUser', caller: 'é'.repeat(40) });
  const request = new IncomingMessage(new Socket());
  return { index: -1, head: { headers: {}, rawHeaders: [] }, request, started: 0, stats };
}

/** Creates an audit in the log, and functions that report writes to it. */
function auditOf(lines: LineBuffer) {
  const observer = observeAll([auditInLog(lines)]);
  const operation = compile(screening).operations.get('UpdateSubUser')?.operation;
  if (operation === undefined) throw new Error('expected the operation UpdateSubUser');
  const call = { method: 'PUT', operation };
  return {
    sending: (exchange: Observed) => observer.sending(exchange, call),
    settled: (exchange: Observed, outcome: WriteOutcome) => observer.settled(exchange, call, outcome),
  };
}

function requestIdsIn(lines: string): string[] {
  return lines
    .trim()
    .split('\n')
    .map((line): string => JSON.parse(line).requestId);
}

test('with a buffered log, a running write has a line if it is unsettled at the next flush', (t) => {
  const batches: string[][] = [];
  const lines = new LineBuffer({ write: (bytes) => batches.push(requestIdsIn(bytes.toString())) });
  const audit = auditOf(lines);
  const calls = ['a', 'b', 'c', 'd'].map(auditedCall);
  const [a, b, c, d] = calls as [Observed, Observed, Observed, Observed];
  for (const call of [a, b, c]) audit.sending(call);
  audit.settled(b, 'answered');
  lines.flush();
  t.deepEqual(batches, [['a', 'c']]);
  audit.sending(d);
  audit.settled(a, 'unknown');
  lines.flush();
  t.deepEqual(batches, [['a', 'c'], ['d']], 'each is told of once');
  audit.settled(c, 'answered');
  audit.settled(d, 'answered');
  lines.flush();
  t.is(batches.length, 2);
  t.deepEqual(
    calls.map(({ stats }) => stats.written),
    ['unknown', 'answered', 'answered', 'answered'],
  );
});

test('many running writes have their lines, however small the buffer', (t) => {
  let handedOn = '';
  const lines = new LineBuffer({ write: (bytes) => (handedOn += bytes.toString()) });
  const audit = auditOf(lines);
  const requestIds = Array.from({ length: 2_000 }, (_, index) => `call-${index}`);
  for (const requestId of requestIds) audit.sending(auditedCall(requestId));
  lines.flush();
  t.deepEqual(requestIdsIn(handedOn), requestIds);
});

test('a running write is logged soon, also in an otherwise silent log', async (t) => {
  const keep = setInterval(() => {}, 1_000);
  const line = await new Promise<string>((resolve) => {
    const lines = new LineBuffer({ write: (bytes) => resolve(bytes.toString()) });
    auditOf(lines).sending(auditedCall('a'));
  });
  clearInterval(keep);
  t.is(JSON.parse(line).audit, 'sending');
});

test('a write without a connection is logged as unsent; a read has no audit lines', async (t) => {
  const gateway = await startGateway(t, { serve: { upstreamUrl: 'http://127.0.0.1:9' } });
  await gateway.send('POST', '/json/reply/GetSearch', credentials, '{}');
  t.false(/audit|outcome/.test(gateway.log()));
  await gateway.send('DELETE', '/clients/1', credentials);
  t.is(lineOf(gateway, '"settled"').outcome, 'unsent');
});

test('SOAPBRIDGE_AUDIT_LOG: audit lines are written to a file before each call, at any log level', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'audit-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const auditLog = join(directory, 'audit.log');
  const gateway = await startGateway(t, { serve: { auditLog, logLevel: 'error' } });
  let before = '';
  gateway.answer((_hit, response) => {
    before = readFileSync(auditLog, 'utf8');
    response.end(emptyReply);
  });
  await gateway.send('PUT', '/subusers/update', credentials, write);
  t.is(JSON.parse(before).audit, 'sending');
  t.is(readFileSync(auditLog, 'utf8').trim().split('\n').length, 2);
  t.is(gateway.log(), '');
  t.is(statSync(auditLog).mode & 0o077, 0, 'only the owner reads a new file');
});

test('writeId pairs the audit lines of two writes with one X-Request-Id', async (t) => {
  const auditLog = join(mkdtempSync(join(tmpdir(), 'audit-')), 'audit.log');
  t.teardown(() => rmSync(dirname(auditLog), { recursive: true }));
  const gateway = await startGateway(t, { serve: { auditLog } });
  const headers = { ...credentials, 'X-Request-Id': 'caller-0003' };
  const send = () => gateway.send('PUT', '/subusers/update', headers, write);
  await Promise.all([send(), send()]);
  const lines = readFileSync(auditLog, 'utf8').trim().split('\n');
  const counts = new Map<string, string[]>();
  for (const { writeId, audit } of lines.map((line) => JSON.parse(line)))
    counts.set(writeId, [...(counts.get(writeId) ?? []), audit]);
  t.deepEqual(
    [...counts.values()],
    [
      ['sending', 'settled'],
      ['sending', 'settled'],
    ],
  );
});

const full = '/dev/full';
(existsSync(full) ? test : test.skip)(
  'a write whose audit line can’t be written is not sent, and the log says why',
  async (t) => {
    const gateway = await startGateway(t, { serve: { auditLog: full } });
    t.is((await gateway.send('PUT', '/subusers/update', credentials, write)).status, 500);
    t.is((await gateway.send('POST', '/json/reply/GetSearch', credentials, '{}')).status, 200);
    t.is(gateway.hits.length, 1);
    t.is(lineOf(gateway, 'internal error').code, 'ENOSPC');
  },
);

test('an audit log that cannot be written stops the start', async (t) => {
  await t.throwsAsync(startGateway(t, { serve: { auditLog: '/nowhere/audit.log' } }), {
    instanceOf: RangeError,
    message: '--audit-log: expected a writable file, got ENOENT',
  });
});

// --- the line of a request -------------------------------------------------------------------------------

const settled: RequestRecord = {
  requestId: 'a1b2-c3',
  method: 'POST',
  transport: 'soap11',
  operation: 'UpdateSubUser',
  status: 200,
  meant: undefined,
  signed: undefined,
  decrypted: undefined,
  wsseReason: undefined,
  bytesIn: 0,
  bytesOut: 9,
  endedAt: 0,
  ms: 0,
  clientIp: '::1',
  upstream: undefined,
  failures: undefined,
  caller: undefined,
  traceId: undefined,
  error: undefined,
  fault: undefined,
  refusal: undefined,
  block: undefined,
  path: undefined,
  userAgent: undefined,
  sent: 0,
  retries: 0,
  upstreamStatus: 0,
  upstreamMs: 0,
  sentAt: 0,
  queueMs: 0,
  aborted: false,
  noted: undefined,
  isReadTwice: false,
  isReordered: false,
  wsse: undefined,
  unverified: [],
  written: undefined,
  writeId: undefined,
  route: undefined,
};

/** Writes the log line of a request and parses it. */
function toldOf(record: RequestRecord, path = '/v2'): Record<string, unknown> {
  const told: string[] = [];
  compileRequestLine(path)(record, new LineBuffer({ write: (lines) => told.push(lines.toString()) }, 1));
  return JSON.parse(told.join(''));
}

for (const [logLevel, expected] of [
  ['debug', [20, 30, 30, 30, 30, 40, 40, 50, 50]],
  ['info', [30, 30, 30, 30, 40, 40, 50, 50]],
  ['warn', [40, 40, 50, 50]],
  ['error', [50, 50]],
  ['fatal', []],
  ['silent', []],
] as const) {
  test(`at --log-level ${logLevel} the lines of requests have the levels ${expected.join(' ')}`, async (t) => {
    const gateway = await startGateway(t, { serve: { logLevel } });
    const page = await (await fetch(`${gateway.running.url}/readyz`)).text();
    t.is(page, 'ready\n');
    const body = '{"request":{"subUserName":"jo"}}';
    const call = (status: number, operation = 'GetSearch') => {
      gateway.answer({ status, body: status === 200 ? emptyReply : '{}' });
      return gateway.send('POST', `/json/reply/${operation}`, credentials, body);
    };
    await call(200);
    await call(200, 'UpdateSubUser'); // with two lines, because writes are audited
    await call(404);
    await call(200, 'Unknown');
    await call(500);
    await call(503, 'UpdateSubUser');
    const lines = gateway
      .log()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
    const requests = lines.filter(({ ms, audit }) => ms !== undefined || audit === 'sending');
    t.deepEqual(requests.map(({ level }) => level).toSorted(), [...expected]);
  });
}

test('the log line of a request has exact numbers, times to the µs', (t) => {
  const number = fc.oneof(fc.nat(2_000), fc.nat(), fc.nat({ max: Number.MAX_SAFE_INTEGER }));
  const time = fc.double({ min: 0, max: 1e9, noNaN: true });
  t.notThrows(() =>
    fc.assert(
      fc.property(number, number, time, time, (bytesIn, bytesOut, ms, upstreamMs) => {
        const line = toldOf({ ...settled, bytesIn, bytesOut, ms, sent: 1, upstreamStatus: 404, upstreamMs });
        deepStrictEqual(
          [line.bytesIn, line.bytesOut, line.ms, line.upstreamStatus, line.upstreamMs],
          [bytesIn, bytesOut, Math.round(ms * 1000) / 1000, 404, Math.round(upstreamMs * 1000) / 1000],
        );
      }),
      { numRuns: 1_000 },
    ),
  );
});

test('the log line of a request has the known fields, and no others', (t) => {
  const { time, ...plain } = toldOf(settled);
  t.true(Math.abs(Number(time) - Date.now()) < 60_000);
  const usual = {
    level: 30,
    requestId: 'a1b2-c3',
    method: 'POST',
    contract: '/v2',
    transport: 'soap11',
    operation: 'UpdateSubUser',
    status: 200,
    bytesIn: 0,
    bytesOut: 9,
    ms: 0,
    clientIp: '::1',
  };
  t.deepEqual(plain, usual);
  const noted = { ignored: ['Größe"漢'], quirks: 1, dropped: 0, missing: 0, replaced: 0, passed: 0 };
  const { time: _, ...all } = toldOf({
    ...settled,
    operation: 'Größe"漢',
    meant: 404,
    caller: 'caller-1',
    error: 'NotFound',
    fault: 'MustUnderstand',
    block: '{urn:a}B',
    sent: 2,
    retries: 1,
    upstreamStatus: 404,
    upstreamMs: 12.3456,
    queueMs: 1.5,
    aborted: true,
    noted,
    written: 'unknown',
  });
  t.deepEqual(all, {
    ...usual,
    level: 40,
    operation: 'Größe"漢',
    meant: 404,
    caller: 'caller-1',
    audit: 'settled',
    outcome: 'unknown',
    upstreamStatus: 404,
    upstreamMs: 12.346,
    error: 'NotFound',
    fault: 'MustUnderstand',
    block: '{urn:a}B',
    retry: true,
    queueMs: 1.5,
    aborted: true,
    noted,
  });
  t.is(toldOf({ ...settled, error: 'made up' }).error, 'Upstream');
});

// --- metrics ---------------------------------------------------------------------------------------------

test('/metrics covers requests, the upstream and the load, and identifies no caller', async (t) => {
  const gateway = await startGateway(t);
  await gateway.send('POST', '/json/reply/GetSearch', credentials, '{}');
  gateway.answer({ status: 404, body: '{}' });
  await gateway.send('POST', '/soap11', {}, envelope('1.1'));
  const page = await send(gateway.port, 'GET', '/metrics');
  t.is(page.status, 200);
  t.is(page.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  for (const line of [
    'soapbridge_requests_total{contract="/v2",transport="json",status="200"} 1',
    'soapbridge_requests_total{contract="/v2",transport="soap11",status="404"} 1',
    'soapbridge_request_duration_seconds_bucket{contract="/v2",transport="json",le="+Inf"} 1',
    'soapbridge_request_duration_seconds_count{contract="/v2",transport="soap11"} 1',
    'soapbridge_upstream_replies_total{contract="/v2",operation="GetSearch",status="404"} 1',
    'soapbridge_upstream_duration_seconds_count{contract="/v2"} 2',
    'soapbridge_upstream_breaker_open{contract="/v2"} 0',
    'soapbridge_upstream_connections{contract="/v2"} 0',
    'soapbridge_upstream_connections_limit{contract="/v2"} 64',
    'soapbridge_in_flight 0',
    'soapbridge_shed_total 0',
  ]) {
    t.true(page.text.split('\n').includes(line), `${line}\n${page.text}`);
  }
  t.false(page.text.includes('canary'));
});

const textFormat =
  /^(?:# (?:HELP|TYPE) soapbridge_\w+ .+|soapbridge_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+)$/;

/** Returns the value of a sample on a page; NaN if it is missing. */
const told = (page: string, sample: string): number =>
  Number(page.split(`\nsoapbridge_${sample} `)[1]?.split('\n')[0]);

/** Returns the snapshot of a process that had one request of each of these durations, in ms. */
function snapshotOf(durations: readonly number[]): Snapshot {
  const metrics = createMetrics();
  const record: Partial<RequestRecord> = {
    transport: 'xml',
    status: 200,
    meant: undefined,
    sent: 2,
    retries: 1,
    upstreamStatus: 0,
    unverified: [],
  };
  for (const ms of durations) {
    // requested again, as after a reload
    metrics.counterOf('/v2')({ ...record, ms, upstreamMs: ms, aborted: ms > 1_000 } as RequestRecord);
  }
  return metrics.read({
    inFlight: 1,
    queued: 2,
    arriving: 0,
    leaving: 0,
    heldBytes: 3,
    shed: 4,
    connections: 5,
    upstreamStates: new Map([
      ['/v2', { ...idleUpstream, isOpen: true, openOperations: Array(7).fill('A'), waiting: 8, shed: 9 }],
    ]),
    loopDelayMs: 6,
    droppedLines: 7,
  });
}

test('/metrics: each line is in the text format, and buckets are cumulative', (t) => {
  const page = writeSnapshot(snapshotOf([0.5, 1, 2, 70_000]));
  for (const line of page.trimEnd().split('\n')) t.regex(line, textFormat);
  t.is(told(page, 'request_duration_seconds_bucket{contract="/v2",transport="xml",le="0.001"}'), 2);
  t.is(told(page, 'request_duration_seconds_bucket{contract="/v2",transport="xml",le="60"}'), 3);
  t.is(told(page, 'request_duration_seconds_bucket{contract="/v2",transport="xml",le="+Inf"}'), 4);
  t.is(told(page, 'upstream_retries_total{contract="/v2"}'), 4);
  t.is(told(page, 'aborted_total{contract="/v2"}'), 1);
  t.is(told(page, 'upstream_breaker_open{contract="/v2"}'), 1);
  t.is(told(page, 'event_loop_delay_seconds'), 0.006);
});

test('/metrics of several processes: counters are summed, other values listed per process', (t) => {
  const page = writeSnapshot(
    addSnapshots([
      ['1', snapshotOf([0.5, 2])],
      ['2', snapshotOf([0.5])],
    ]),
  );
  for (const line of page.trimEnd().split('\n')) t.regex(line, textFormat);
  const names = page.split('\n').filter((line) => line.startsWith('# TYPE'));
  t.is(new Set(names).size, names.length);
  const labels = 'contract="/v2",transport="xml"';
  t.is(told(page, `requests_total{${labels},status="200"}`), 3);
  t.is(told(page, `request_duration_seconds_bucket{${labels},le="0.001"}`), 2);
  t.is(told(page, `request_duration_seconds_sum{${labels}}`), 0.003);
  t.is(told(page, 'in_flight'), 2);
  t.is(told(page, 'shed_total'), 8);
  t.is(told(page, 'log_lines_dropped_total'), 14);
  t.is(told(page, 'upstream_breaker_open{contract="/v2",worker="2"}'), 1);
  t.is(told(page, 'upstream_operations_open{contract="/v2",worker="2"}'), 7);
  t.is(told(page, 'upstream_waiting{contract="/v2"}'), 16);
  t.is(told(page, 'upstream_shed_total{contract="/v2"}'), 18);
  t.is(told(page, 'event_loop_delay_seconds{worker="1"}'), 0.006);
  t.true(told(page, 'resident_memory_bytes{worker="2"}') > 0);
});
