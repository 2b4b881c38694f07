import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { until } from '../until.ts';
import { contractFolder, type Site, startSite } from './scenario.ts';

const contract = contractFolder('contracts/agency');
const path = '/agency/services/v2/AgencyPort';
const headers = { 'Content-Type': 'text/xml' };

function bodyOf(operation: string, number: string): string {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2"><c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">${number}</c:GrantsGovTrackingNumber></a:${operation}Request></soap:Body></soap:Envelope>`;
}

const write = 'ConfirmApplicationDelivery';
const confirmed = { status: 200, headers: { 'content-type': 'application/json' } };

function start(t: ExecutionContext, config: object, limits = {}): Promise<Site> {
  return startSite(t, { contract, config, limits });
}

test('G1: `legacy` requires a legacy WSDL, and `migration` requires `legacy`', async (t) => {
  const messageOf = async (folder: string, config: object) => {
    const error = await t.throwsAsync(startSite(t, { contract: folder, config }), {
      instanceOf: ContractError,
    });
    return error?.problems.map(({ pointer, message }) => `${pointer}: ${message}`);
  };
  t.deepEqual(
    await messageOf(join(import.meta.dirname, '../fixtures/contracts/parcels'), {
      legacy: 'http://127.0.0.1:9',
    }),
    ['/contracts/~1/legacy: expected an adopted WSDL, got an OpenAPI document'],
  );
  t.deepEqual(await messageOf(contract, { migration: { routes: [] } }), [
    '/contracts/~1/migration: expected legacy, the legacy service, with migration, got none',
  ]);
  t.deepEqual(await messageOf(contract, { legacy: { url: 'http://127.0.0.1:9', limits: { inFlight: 1 } } }), [
    '/contracts/~1/legacy/limits/inFlight: expected a limit of an upstream, got a limit for all contracts. Set it with SOAPBRIDGE_LIMITS',
  ]);
  t.deepEqual(
    await messageOf(contract, { legacy: { url: 'http://127.0.0.1:9', identity: { from: 'serial' } } }),
    ['/contracts/~1/legacy/identity: expected header, the name of the header, got none'],
  );
});

test('G21: the log line of a forwarded write has its outcome if there is no separate audit', async (t) => {
  const limits = { upstreamFirstByteMs: 300 };
  const config = { legacy: '{legacy}' };
  const site = await startSite(t, { contract, config, limits, isAudited: false });
  const outcomeOf = async (answer: Site['legacy']['answer'], operation = write): Promise<unknown> => {
    site.legacy.answer = answer;
    const lines = () => site.log().filter(({ ms }) => ms !== undefined);
    const before = lines().length;
    await site.send({ path, headers, body: bodyOf(operation, 'G') }).catch(() => {});
    await until(() => lines().length > before);
    return lines().at(-1)?.outcome;
  };
  t.is(await outcomeOf({ status: 200, body: 'ok' }), 'answered');
  t.is(await outcomeOf({ status: 503, body: 'no' }), 'answered');
  t.is(await outcomeOf({ fails: 'resetAfterRequest' }), 'unknown');
  t.is(await outcomeOf({ fails: 'timeout' }), 'unknown');
  t.is(await outcomeOf({ status: 200, headers: { 'content-length': '9' }, body: 'cut' }), 'unknown');
  t.is(await outcomeOf({ status: 200, body: 'ok' }, 'GetApplicationZip'), undefined, 'a read');
});

test('G5, G20: 60 writes during 12 switches of the route each reach one service once', async (t) => {
  const site = await start(t, { legacy: '{legacy}' });
  site.legacy.answer = { status: 200, body: 'legacy' };
  site.upstream.answer = {
    ...confirmed,
    body: '{"GrantsGovTrackingNumber":"G","ResponseMessage":"Success"}',
  };
  const routes = [{ name: 'new', mode: 'new' }];
  let isSwitching = true;
  const switching = (async () => {
    for (let turn = 0; turn < 12; turn++) {
      await site.reconfigure({ legacy: '{legacy}', ...(turn % 2 === 0 ? { migration: { routes } } : {}) });
    }
    isSwitching = false;
  })();
  let count = 0;
  const caller = async (): Promise<void> => {
    while (isSwitching || count < 60) {
      const reply = await site.send({ path, headers, body: bodyOf(write, `N${count++}`) });
      t.is(reply.status, 200);
    }
  };
  await Promise.all([switching, caller(), caller(), caller()]);
  const received = [...site.legacy.hits, ...site.upstream.hits].map(
    ({ body }) => /N\d+/.exec(body.toString())?.[0],
  );
  t.is(received.length, count);
  t.is(new Set(received).size, count);
  t.true(site.legacy.hits.length > 0 && site.upstream.hits.length > 0);
  await until(() => site.audit().filter(({ audit }) => audit === 'settled').length === count);
  const sides = site.audit().flatMap(({ audit, side }) => (audit === 'settled' ? [side] : []));
  t.is(sides.filter((side) => side === 'legacy').length, site.legacy.hits.length);
});

test('G20, G21: a write that fails is never sent to the other service', async (t) => {
  const routes = [
    {
      name: 'new numbers',
      operations: [write],
      mode: 'new',
      when: { value: { GrantsGovTrackingNumber: { startsWith: 'N' } } },
    },
  ];
  const limits = { upstreamFirstByteMs: 200 };
  const site = await start(t, { legacy: '{legacy}', migration: { routes } }, limits);
  const outcomes: unknown[] = [];
  for (const number of ['L', 'N']) {
    const stub = number === 'L' ? site.legacy : site.upstream;
    const other = number === 'L' ? site.upstream : site.legacy;
    for (const fails of ['timeout', 'resetAfterRequest', 'connectionRefused'] as const) {
      if (fails === 'connectionRefused') await stub.refuse();
      stub.answer = { fails };
      const before = stub.hits.length;
      const written = site.audit().length;
      const reply = await site.send({ path, headers, body: bodyOf(write, number) });
      t.is(reply.status, 500);
      t.is(reply.headers['retry-after'] !== undefined, fails === 'connectionRefused', `${number} ${fails}`);
      t.is(stub.hits.length - before, fails === 'connectionRefused' ? 0 : 1);
      t.is(other.hits.length, number === 'L' ? 0 : 2);
      await until(() => site.audit().length === written + 2);
      const [sending, settled] = site.audit().slice(written);
      t.is(sending?.side, settled?.side);
      outcomes.push([settled?.side, settled?.rule, settled?.outcome]);
    }
  }
  const expected = (side: string, rule: string) => [
    [side, rule, 'unknown'],
    [side, rule, 'unknown'],
    [side, rule, 'unsent'],
  ];
  t.deepEqual(outcomes, [...expected('legacy', 'otherwise'), ...expected('new', 'new numbers')]);
});

test('G18: a failing legacy service does not affect calls to the new service', async (t) => {
  const routes = [{ name: 'r', operations: ['GetApplicationZip'], mode: 'new' }];
  const limits = { upstreamConnections: 1, upstreamQueueMs: 1_000, upstreamFirstByteMs: 3_000 };
  const site = await start(t, { legacy: '{legacy}', migration: { routes } }, limits);
  site.legacy.answer = { fails: 'timeout' };
  site.upstream.answer = { ...confirmed, body: '{"FileDataHandler":""}' };
  const stuck = Array.from({ length: 4 }, () => site.send({ path, headers, body: bodyOf(write, 'N') }));
  await until(() => site.legacy.hits.length > 0);
  t.is((await site.send({ path, headers, body: bodyOf('GetApplicationZip', 'N') })).status, 200);
  const statuses = (await Promise.all(stuck)).map((reply) => reply.headers['x-status']);
  t.true(statuses.includes('504') && statuses.includes('503'));
});

test('G32: a listed fault of the new service leads to the legacy service, other failures do not', async (t) => {
  const routes = [{ name: 'f', operations: ['GetApplicationZip'], mode: 'fallback' }];
  const fallback = { GetApplicationZip: ['ApplicationNotFound'] };
  const site = await start(t, { legacy: '{legacy}', migration: { routes, fallback } });
  site.legacy.answer = { status: 200, body: 'legacy' };
  const call = async (status: number, body: string, isChunked = false) => {
    site.upstream.answer = { ...confirmed, status, body };
    const own = isChunked ? { ...headers, 'Content-Type': 'text/xml' } : headers;
    const reply = await site.send({ path, headers: own, body: bodyOf('GetApplicationZip', 'N') });
    return reply.body.toString() === 'legacy';
  };
  const fault = '{"@fault":"ApplicationNotFound","GrantsGovTrackingNumber":"N"}';
  t.true(await call(404, '{}'));
  t.true(await call(404, fault));
  t.true(await call(409, fault));
  t.false(await call(409, '{"message":"other"}'));
  t.false(await call(500, fault.replace('ApplicationNotFound', 'Unknown')));
  t.false(await call(200, '{"FileDataHandler":""}'));
  t.deepEqual(site.legacy.hits.at(-1)?.body.toString(), bodyOf('GetApplicationZip', 'N'));
});

test('G24: the code of a declared fault is configured by its name, in both versions', async (t) => {
  const routes = [{ name: 'r', operations: ['GetApplicationZip'], mode: 'new' }];
  const replies = { faultCode: { ApplicationNotFound: 'Client' } };
  const site = await start(t, { legacy: '{legacy}', migration: { routes, replies } });
  const codeOf = async (json: string, is12 = false) => {
    site.upstream.answer = { ...confirmed, status: 404, body: json };
    const body = bodyOf('GetApplicationZip', 'N');
    const sent = is12
      ? body.replace(/http:[^"]*envelope\//, 'http://www.w3.org/2003/05/soap-envelope')
      : body;
    const own = is12 ? { 'Content-Type': 'application/soap+xml' } : headers;
    const { body: reply } = await site.send({ path, headers: own, body: sent });
    return /<(?:faultcode|s:Value)>s:(\w+)</.exec(reply.toString())?.[1];
  };
  const members = '"@fault":"ApplicationNotFound","GrantsGovTrackingNumber":"N"';
  t.is(await codeOf(`{${members}}`), 'Client');
  t.is(await codeOf(`{${members}}`, true), 'Sender');
  t.is(await codeOf(`{${members},"@code":"Server"}`), 'Server');
});
