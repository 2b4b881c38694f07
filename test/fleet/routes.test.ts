import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { missingPackages } from '../../mappings/optional-packages.ts';
import { freePort } from '../free-port.ts';
import { ask, sha256 } from '../gateway/admin/admin.ts';
import { password, postgresPrograms, startPostgres } from '../gateway/store/postgres-server.ts';
import { headers, message, path, zip } from '../migration/comparing.ts';
import { contractFolder, send, startStub } from '../migration/scenario.ts';
import { until } from '../until.ts';
import { scratch, startReplica } from './fleet.ts';

// Replicas that share a store (G66). Each has a listener for callers and one for its admin API.

const programs = postgresPrograms();
const missing = programs === undefined ? 'PostgreSQL is not installed' : missingPackages('store');
const declare = missing === undefined ? test.serial : test.skip;
const title = (text: string): string => (missing === undefined ? text : `${text} (skipped: ${missing})`);

const token = 'token-of-otto';

/** Maximum time until a change holds in every replica, in ms. */
const maxMs = 2_000;

/** Callers in turn. A change for a share of the callers moves some of them. */
const callers = Array.from({ length: 20 }, (_, index) => `caller ${index}`);

interface Ports {
  readonly port: number;
  readonly adminPort: number;
}

/** Starts three replicas with one store. */
async function startReplicas(t: ExecutionContext): Promise<readonly Ports[]> {
  const [folder, legacy, upstream] = [scratch(t), await startStub(t), await startStub(t)];
  legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: 'legacy' };
  const json = '{"FileDataHandler":"UEsDBQ=="}';
  upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: json };
  const { url } = await startPostgres(t, programs ?? '');
  const write = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    chmodSync(join(folder, name), 0o600);
    return join(folder, name);
  };
  write('tokens.yaml', JSON.stringify([{ name: 'otto', role: 'change', sha256: sha256(token) }]));
  const key = write('caller.key', 'k'.repeat(64));
  const contract = {
    contract: contractFolder('contracts/agency'),
    legacy: legacy.url,
    upstream: upstream.url,
  };
  const ports: Ports[] = [];
  for (let replica = 0; replica < 3; replica++) {
    const [port, adminPort] = [await freePort(), await freePort()];
    const config = {
      contracts: { '/': contract },
      store: { url, password: { file: write('password', password) } },
      admin: { listen: `127.0.0.1:${adminPort}`, tokens: 'tokens.yaml' },
      clientCertificate: { header: 'X-Caller', from: 'commonName', sentIn: 'X-Test-Certificate' },
    };
    const file = write(`soapbridge-${replica}.yaml`, JSON.stringify(config));
    const environment = { SOAPBRIDGE_CONFIG: file, SOAPBRIDGE_CALLER_KEY: key };
    await startReplica(t, port, { ...environment, SOAPBRIDGE_LIMITS: 'loopDelayMs=60000' });
    ports.push({ port, adminPort });
  }
  return ports;
}

/** A call of a caller. */
interface Answered {
  readonly caller: string;
  readonly status: number;
  readonly isNew: boolean;
  /** Time of the request, in ms. */
  readonly at: number;
}

/** Calls one replica continuously by all callers in turn, until it is stopped. */
function startCalls(port: number) {
  const answers: Answered[] = [];
  let isOver = false;
  const ended = (async () => {
    for (let count = 0; !isOver; count++) {
      const caller = callers[count % callers.length] ?? '';
      const at = performance.now();
      const { status, body } = await send(port, { path, headers, body: message('GRANT8'), caller });
      answers.push({ caller, status, isNew: body.toString() !== 'legacy', at });
      await pause(2);
    }
  })();
  return {
    answers,
    stop: (): Promise<void> => {
      isOver = true;
      return ended;
    },
  };
}

declare(title('G66: a change holds in three replicas within two seconds, and fails no call'), async (t) => {
  const replicas = await startReplicas(t);
  const [first] = replicas;
  if (first === undefined) return t.fail();
  const calls = replicas.map(({ port }) => startCalls(port));
  const bySide = new Map<string, number[]>();
  let version = 0;
  for (const percent of [50, 100]) {
    const before = calls.map(({ answers }) => answers.length);
    await until(() => calls.every(({ answers }, index) => answers.length > (before[index] ?? 0) + 40));
    const body = { operation: zip, mode: 'new', percent, force: true, reason: 'test', ifVersion: version++ };
    const reply = await ask(`http://127.0.0.1:${first.adminPort}`, '/api/v1/contracts/%2F/routes', {
      ...{ method: 'POST', token, headers: { 'content-type': 'application/json' } },
      body: JSON.stringify(body),
    });
    t.is(reply.status, 201, reply.text);
    const changedAt = performance.now();
    await pause(2 * maxMs);
    const moved = new Set(
      calls.flatMap(({ answers }) => answers.filter(({ isNew }) => isNew).map(({ caller }) => caller)),
    );
    if (percent === 100) t.is(moved.size, callers.length);
    else t.true(moved.size > 0 && moved.size < callers.length, `${moved.size} callers moved`);
    for (const [index, { answers }] of calls.entries()) {
      const late = answers.findLast(({ caller, isNew }) => moved.has(caller) && !isNew)?.at ?? changedAt;
      const ms = Math.max(0, late - changedAt);
      bySide.set(`replica ${index + 1}`, [...(bySide.get(`replica ${index + 1}`) ?? []), Math.round(ms)]);
      t.true(ms <= maxMs, `replica ${index + 1}: ${ms} ms`);
    }
  }
  await Promise.all(calls.map(({ stop }) => stop()));
  for (const { answers } of calls) {
    t.deepEqual(
      answers.filter(({ status }) => status !== 200),
      [],
    );
    for (const caller of callers) {
      const sides = answers.filter((one) => one.caller === caller).map(({ isNew }) => isNew);
      t.deepEqual(sides, sides.toSorted(), `${caller} moved back`);
    }
  }
  t.log('last call by the former route, in ms after each change', Object.fromEntries(bySide));
});
