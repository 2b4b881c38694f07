import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readContract } from '../../../mappings/loader/load.ts';
import { type Gateway, type Reply, send, startGateway } from '../gateway.ts';

const adopted = join(import.meta.dirname, '../../fixtures/adopt/catalogue');

function folder(t: Pick<ExecutionContext, 'teardown'>): string {
  const directory = mkdtempSync(join(tmpdir(), 'timeout-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Returns a contract with the operations `slow`, which has a timeout, and `other`, which has none. */
function contractWith(t: Pick<ExecutionContext, 'teardown'>, timeoutMs: number): string {
  const directory = folder(t);
  const responses = { 204: { description: 'done' } };
  const paths = {
    '/slow': { get: { operationId: 'slow', responses } },
    '/other': { get: { operationId: 'other', responses } },
  };
  const document = { openapi: '3.1.0', info: {}, paths };
  writeFileSync(join(directory, 'openapi.yaml'), JSON.stringify(document));
  const overlay = { service: 'Timeouts', operations: { slow: { timeoutMs } } };
  writeFileSync(join(directory, 'soap.yaml'), JSON.stringify(overlay));
  return directory;
}

const call = (gateway: Gateway, operation: string): Promise<Reply> =>
  send(gateway.port, 'POST', `/json/reply/${operation}`, {}, '{}');

/** Opens two connections to the upstream, so that the time of the next calls does not include connecting. */
async function openConnections(gateway: Gateway): Promise<void> {
  const waiting: (() => void)[] = [];
  gateway.answer((_hit, response) => {
    waiting.push(() => response.writeHead(204).end());
    if (waiting.length === 2) for (const answer of waiting) answer();
  });
  await Promise.all([call(gateway, 'other'), call(gateway, 'other')]);
}

test('timeoutMs: an operation ends with 504 after its own time, and another one does not', async (t) => {
  const gateway = await startGateway(t, { serve: { contract: contractWith(t, 200) }, isPatient: true });
  await openConnections(gateway);
  const ended = Promise.withResolvers<void>();
  gateway.answer(async ({ path }, response) => {
    if (path === '/slow') return;
    await ended.promise;
    response.writeHead(204).end();
  });
  const other = call(gateway, 'other');
  const started = performance.now();
  const slow = await call(gateway, 'slow');
  t.is(slow.status, 504);
  t.true(performance.now() - started >= 200);
  ended.resolve();
  t.is((await other).status, 204);
});

test('timeoutMs: it may be longer than totalMs and upstreamFirstByteMs', async (t) => {
  const limits = { totalMs: 300, upstreamFirstByteMs: 300 };
  const gateway = await startGateway(t, { serve: { contract: contractWith(t, 600_000) }, limits });
  gateway.answer((_hit, response) => setTimeout(() => response.writeHead(204).end(), 600));
  const [long, short] = await Promise.all([call(gateway, 'slow'), call(gateway, 'other')]);
  t.is(long.status, 204);
  // 503 on a machine that needs more than 300 ms to connect
  t.true([503, 504].includes(short.status));
});

test('timeoutMs: an upstream that exceeds it opens the circuit breaker', async (t) => {
  const limits = { breakerCalls: 2, breakerFailingMs: 1, breakerWindowMs: 600_000, breakerProbeMs: 600_000 };
  const gateway = await startGateway(t, {
    serve: { contract: contractWith(t, 100) },
    isPatient: true,
    limits,
  });
  await openConnections(gateway);
  gateway.answer(() => {});
  t.is((await call(gateway, 'slow')).status, 504);
  t.is((await call(gateway, 'slow')).status, 504);
  t.is((await call(gateway, 'slow')).status, 503);
  t.is(gateway.hits.filter(({ path }) => path === '/slow').length, 2);
});

test('timeoutMs: an operation of an adopted contract has it', async (t) => {
  const directory = folder(t);
  cpSync(adopted, directory, { recursive: true });
  const overlay = { operations: { Add: { timeoutMs: 200 } } };
  writeFileSync(join(directory, 'soap.yaml'), JSON.stringify(overlay));
  const { operations } = readContract(directory).contract;
  t.deepEqual(
    operations.flatMap(({ name, timeoutMs }) => (timeoutMs === undefined ? [] : [[name, timeoutMs]])),
    [['Add', 200]],
  );
});

for (const [value, isValid] of [
  [0, false],
  [1, true],
  [3_600_000, true],
  [3_600_001, false],
] as const) {
  test(`timeoutMs: ${value} is ${isValid ? 'accepted' : 'rejected'}`, (t) => {
    const contract = contractWith(t, value);
    if (isValid) t.notThrows(() => readContract(contract));
    else
      t.throws(() => readContract(contract), {
        message: /timeoutMs: expected a time in ms from 1 to 3600000/,
      });
  });
}
