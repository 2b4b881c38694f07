import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { Permit } from '../../gateway/admission/permit.ts';
import { ShadowCapacity } from '../../gateway/migration/shadow-capacity.ts';
import { defaultLimits } from '../../mappings/contract/limits.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { until } from '../until.ts';
import { comparedIn, headers, message, metricOf, path, results, startComparing, zip } from './comparing.ts';
import { contractFolder, startSite } from './scenario.ts';

const body = message('GRANT1');

test('G25, G26, G52: the caller gets the legacy reply, and a second line has the result', async (t) => {
  const site = await startComparing(t);
  const got = await site.send({ path, headers, body, caller: 'acme' });
  t.is(got.status, 200);
  t.is(got.body.toString(), site.replies.legacy);
  t.deepEqual(await results(site, 1), ['equal']);
  const [sent] = site.legacy.hits;
  const [shadow] = site.upstream.hits;
  t.is(sent?.body.toString(), body);
  t.is(sent?.headers['x-soapbridge-shadow'], undefined);
  t.is(shadow?.headers['x-soapbridge-shadow'], '1');
  t.is(shadow?.body.toString(), '{"GrantsGovTrackingNumber":"GRANT1"}');
  const [first, second] = site.log().filter(({ requestId }) => requestId === sent?.headers['x-request-id']);
  t.like(first, { mode: 'compare', rule: 'c', side: 'legacy', legacyStatus: 200, operation: zip });
  t.like(second, { operation: zip, compared: 'equal', contract: '/' });
  t.false(JSON.stringify([first, second]).includes('GRANT1'));
  t.is(metricOf(site, 'migration_verdict', `operation="${zip}",verdict="collecting"`), 1);
});

test('G26: with answer new the caller gets the new reply, and the message is sent to legacy', async (t) => {
  const site = await startComparing(t, { answer: 'new' });
  const got = await site.send({ path, headers: { ...headers, 'X-Own': 'a' }, body });
  t.is(got.status, 200);
  t.true(got.body.toString().includes('>UEsDBA==<'));
  t.deepEqual(await results(site, 1), ['equal']);
  const [shadow] = site.legacy.hits;
  t.is(shadow?.body.toString(), body);
  t.is(shadow?.headers['x-soapbridge-shadow'], '1');
  t.is(shadow?.headers['x-own'], 'a');
  t.is(site.upstream.hits[0]?.headers['x-soapbridge-shadow'], undefined);
  t.like(
    site.log().find(({ ms }) => ms !== undefined),
    { mode: 'compare', side: 'new' },
  );
});

test('G26: a failure of the answering service is returned to the caller', async (t) => {
  const site = await startComparing(t, {}, { limits: { shadowMs: 60_000 } });
  await site.legacy.refuse();
  const got = await site.send({ path, headers, body });
  t.is(got.headers['x-status'], '503');
  t.deepEqual(await results(site, 1), ['skipped:aborted']);
  await site.reconfigure({
    legacy: '{legacy}',
    migration: { routes: [{ name: 'c', operations: [zip], mode: 'compare', answer: 'new' }] },
  });
  await site.legacy.open();
  await site.upstream.refuse();
  const failed = await site.send({ path, headers, body });
  t.is(failed.headers['x-status'], '503');
  t.deepEqual((await results(site, 2))[1], 'skipped:aborted');
});

test('G26: replies of the new service and of the gateway with an error are compared', async (t) => {
  const site = await startComparing(t);
  site.upstream.answer = { status: 500, headers: { 'content-type': 'text/html' }, body: '<p>' };
  t.is((await site.send({ path, headers, body })).status, 200);
  t.deepEqual(await results(site, 1), ['different']);
  // the gateway refuses it in mode new
  const invalid = body.replace(/<c:GrantsGov.*GrantsGovTrackingNumber>/, '<c:Unknown xmlns:c="u"/>');
  t.is((await site.send({ path, headers, body: invalid })).status, 200);
  t.deepEqual(await results(site, 2), ['different', 'different']);
  t.is(site.upstream.hits.length, 1);
});

test('G33: compressed, chunked and large messages are compared', async (t) => {
  const site = await startComparing(t);
  const large = body.replace('</soap:Envelope>', `${' '.repeat(200_000)}</soap:Envelope>`);
  site.legacy.answer = {
    status: 200,
    headers: { 'content-type': 'text/xml', 'content-encoding': 'gzip' },
    body: gzipSync(site.replies.legacy),
  };
  const packed = { ...headers, 'Content-Encoding': 'gzip' };
  t.deepEqual(
    (await site.send({ path, headers: packed, body: gzipSync(body) })).body,
    gzipSync(site.replies.legacy),
  );
  await results(site, 1);
  await site.send({ path, headers, body: large });
  t.deepEqual(await results(site, 2), ['equal', 'equal']);
  t.deepEqual(
    site.upstream.hits.map((hit) => hit.body.toString()),
    ['{"GrantsGovTrackingNumber":"GRANT1"}', '{"GrantsGovTrackingNumber":"GRANT1"}'],
  );
  await site.reconfigure(site.configOf({ answer: 'new' }));
  await site.send({ path, headers: packed, body: gzipSync(body) });
  await results(site, 3);
  await site.send({ path, headers, body: large });
  t.deepEqual(await results(site, 4), ['equal', 'equal', 'equal', 'equal']);
  t.deepEqual(site.legacy.hits[2]?.body, gzipSync(body));
  t.is(site.legacy.hits[3]?.body.toString(), large);
});

test('G26: empty replies are compared, again and again', async (t) => {
  const site = await startComparing(t);
  site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: '' };
  site.upstream.answer = { status: 204 };
  for (const count of [1, 2, 3]) {
    await site.send({ path, headers, body });
    t.is((await results(site, count)).at(-1), 'different');
  }
  await site.reconfigure(site.configOf({ answer: 'new' }));
  for (const count of [4, 5]) {
    await site.send({ path, headers, body });
    t.is((await results(site, count)).at(-1), 'different');
  }
});

test('G27: a stop ends after the comparison of large messages', async (t) => {
  const site = await startComparing(t);
  const large = (text: string): string => text.padEnd(700_000);
  const xml = { 'content-type': 'text/xml' };
  site.legacy.answer = { status: 200, headers: xml, body: large(site.replies.legacy) };
  await site.send({ path, headers, body: large(body) });
  t.deepEqual(await results(site, 1), ['equal']);
  t.true(await site.running.stop(0));
});

test('G27: calls outside the sample are counted and not sent twice', async (t) => {
  const site = await startComparing(t, { sample: '1 in 2' });
  const count = 60;
  for (let index = 0; index < count; index++) await site.send({ path, headers, body });
  const all = await results(site, count);
  const sampled = all.filter((one) => one !== 'skipped:sample').length;
  t.true(sampled > 0 && sampled < count);
  t.is(site.upstream.hits.length, sampled);
  t.is(metricOf(site, 'migration_skipped_total', 'reason="sample"'), count - sampled);
  t.is(metricOf(site, 'migration_compared_total', `operation="${zip}",result="equal"`), sampled);
});

test('G10: a listed caller can compare a single call of a read', async (t) => {
  const override = { callers: ['tester'] };
  const config = { legacy: '{legacy}', migration: { override } };
  const site = await startComparing(t, {}, { config });
  const forced = { ...headers, 'X-Soapbridge-Route': 'compare' };
  await site.send({ path, headers: forced, body, caller: 'acme' });
  await site.send({ path, headers: forced, body, caller: 'tester' });
  t.deepEqual(await results(site, 1), ['equal']);
  const write = body.replaceAll('GetApplicationZip', 'ConfirmApplicationDelivery');
  await site.send({ path, headers: forced, body: write, caller: 'tester' });
  t.like(
    site.log().findLast(({ ms }) => ms !== undefined),
    { mode: 'legacy', operation: 'ConfirmApplicationDelivery' },
  );
  t.is(site.upstream.hits.length, 1);
});

test('G13: callers of JSON are answered if the new service answers, without a shadow request', async (t) => {
  const json = {
    path: `/json/reply/${zip}`,
    headers: { 'Content-Type': 'application/json' },
    body: '{"GrantsGovTrackingNumber":"GRANT1"}',
  };
  const site = await startComparing(t, { answer: 'new' });
  t.is((await site.send(json)).status, 200);
  await site.reconfigure(site.configOf({}));
  t.is((await site.send(json)).status, 501);
  t.is(site.legacy.hits.length, 0);
  t.is(site.upstream.hits.length, 1);
  t.deepEqual(comparedIn(site), []);
});

test('G46, G22: noise calls legacy again, but not for a message that may be sent once only', async (t) => {
  const site = await startComparing(t, {}, { compare: { noise: '100%' } });
  await site.send({ path, headers, body });
  await until(() => site.legacy.hits.length === 2);
  t.is(site.legacy.hits[1]?.headers['x-soapbridge-shadow'], '1');
  t.is(site.legacy.hits[1]?.body.toString(), body);
  t.deepEqual(await results(site, 1), ['equal']);
  const relates =
    '<soap:Header><w:RelatesTo xmlns:w="http://www.w3.org/2005/08/addressing">x</w:RelatesTo></soap:Header>';
  await site.send({ path, headers, body: body.replace('<soap:Body>', `${relates}<soap:Body>`) });
  t.is((await results(site, 2)).length, 2);
  await until(() => metricOf(site, 'migration_skipped_total', 'reason="replayProtected"') === 1);
  t.is(site.legacy.hits.length, 3);
});

test('G22: a shadow request is never sent again', async (t) => {
  const site = await startComparing(t);
  site.upstream.answer = { fails: 'resetAfterRequest' };
  t.is((await site.send({ path, headers, body })).status, 200);
  t.deepEqual(await results(site, 1), ['skipped:aborted']);
  t.is(site.upstream.hits.length, 1);
  await site.reconfigure(site.configOf({ answer: 'new' }));
  site.upstream.answer = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
  site.legacy.answer = { fails: 'resetAfterRequest' };
  t.is((await site.send({ path, headers, body })).status, 200);
  await results(site, 2);
  t.is(site.legacy.hits.length, 2);
});

test('G27: an open circuit breaker for shadow requests does not affect callers', async (t) => {
  const site = await startComparing(t, {}, { limits: { breakerCalls: 1, breakerFailingMs: 0 } });
  await site.upstream.refuse();
  for (let index = 1; index <= 2; index++) {
    t.is((await site.send({ path, headers, body })).status, 200);
    await results(site, index);
  }
  t.deepEqual(comparedIn(site), ['skipped:aborted', 'skipped:breaker']);
  await site.upstream.open();
  await site.reconfigure({
    legacy: '{legacy}',
    migration: {
      routes: [
        { name: 'n', mode: 'new' },
        { name: 'c', operations: [zip], mode: 'compare' },
      ],
    },
  });
  t.is((await site.send({ path, headers, body })).status, 200, 'the breaker for callers is closed');
});

test('G22, G27: a caller that disconnects cancels both reads', async (t) => {
  const site = await startComparing(t, {}, { limits: { shadowMs: 60_000 } });
  site.legacy.answer = { fails: 'timeout' };
  site.upstream.answer = { fails: 'timeout' };
  const request = httpRequest({ port: site.port, host: '127.0.0.1', method: 'POST', path, headers });
  request.on('error', () => {});
  request.end(body);
  await until(() => site.legacy.hits.length === 1 && site.upstream.hits.length === 1);
  request.destroy();
  t.deepEqual(await results(site, 1), ['skipped:aborted']);
});

test('G27: a stop ends with a shadow request in flight', async (t) => {
  const site = await startComparing(t, {}, { limits: { shadowMs: 600_000 }, compare: { noise: '100%' } });
  site.upstream.answer = { fails: 'timeout' };
  await site.send({ path, headers, body });
  await until(() => site.upstream.hits.length === 1);
  t.true(await site.running.stop(0));
  t.deepEqual(comparedIn(site), ['skipped:aborted']);
});

test('G3: answer, sample and noise are checked', async (t) => {
  const errorOf = async (rule: object, compare?: object) => {
    const routes = [{ name: 'c', operations: [zip], mode: 'compare', ...rule }];
    const migration = { routes, ...(compare === undefined ? {} : { compare }) };
    const config = { legacy: 'http://127.0.0.1:9', migration };
    const error = await t.throwsAsync(
      startSite(t, { contract: contractFolder('contracts/agency'), config }),
      {
        instanceOf: ContractError,
      },
    );
    return error?.problems.map(({ pointer, message: text }) => `${pointer} ${text}`);
  };
  const rule = '/contracts/~1/migration/routes/0';
  t.deepEqual(await errorOf({ sample: '0%' }), [
    `${rule}/sample expected a share above 0% and up to 100%, got 0%`,
  ]);
  t.deepEqual(await errorOf({ sample: '3 in 2' }), [
    `${rule}/sample expected a share above 0% and up to 100%, got 3 in 2`,
  ]);
  t.deepEqual(await errorOf({ sample: 'some' }), [
    `${rule}/sample expected a share such as 10% or 1 in 20, got some`,
  ]);
  t.deepEqual(await errorOf({ mode: 'legacy', answer: 'new' }), [
    `${rule}/answer expected mode compare for answer, got legacy`,
  ]);
  t.deepEqual(await errorOf({ mode: 'new', sample: '10%' }), [
    `${rule}/sample expected mode compare for sample, got new`,
  ]);
  t.deepEqual(await errorOf({}, { noise: '101%' }), [
    '/contracts/~1/migration/compare/noise expected a share above 0% and up to 100%, got 101%',
  ]);
});

test('G27: no shadow request starts while the gateway is busy', async (t) => {
  let isBusy = true;
  const limits = { ...defaultLimits, shadowMs: 60_000 };
  const capacity = new ShadowCapacity(
    limits,
    () => isBusy,
    () => t.fail(),
  );
  let isStarted = false;
  const slot = new Permit(capacity.admission, { queueMs: 0 });
  const entered = capacity
    .enter(slot, () => false)
    .then(() => {
      isStarted = true;
    });
  await new Promise((resolve) => setTimeout(resolve, 150));
  t.false(isStarted);
  isBusy = false;
  await entered;
  const short = new ShadowCapacity(
    { ...limits, shadowMs: 1 },
    () => true,
    () => t.fail(),
  );
  await t.throwsAsync(
    short.enter(new Permit(short.admission, { queueMs: 0 }), () => false),
    { message: 'busy' },
  );
});

test('G27: a comparison that needs more memory than its thread may use counts as size', async (t) => {
  const lost: unknown[] = [];
  const capacity = new ShadowCapacity(
    defaultLimits,
    () => false,
    (error) => lost.push(error),
    600_000,
  );
  const list = Array.from({ length: 100 }, () => 'x'.repeat(1024 * 1024));
  const order = { watch: () => () => {}, bytes: 0, memory: [] };
  const task = { contractId: 1, contract: undefined, operation: 'x', duplicates: [] };
  await t.throwsAsync(capacity.compare({ ...order, taskOf: () => ({ ...task, list }) }), {
    name: 'Skipped',
    message: 'size',
  });
  t.like(lost[0], { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  await t.throwsAsync(capacity.compare({ ...order, taskOf: () => ({ ...task, list: [] }) }), {
    message: 'a contract that the comparison thread did not receive',
  });
  await capacity.close();
});
