import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { contractFolder, type Site, type SiteOptions, startSite } from './scenario.ts';

const zip = 'GetApplicationZip';
const path = '/agency/services/v2/AgencyPort';
const headers = { 'Content-Type': 'text/xml' };
const body = `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:GetApplicationZipRequest xmlns:a="http://desk.example/services/Agency-V2"><c:GrantsGovTrackingNumber xmlns:c="http://desk.example/system/Common-V1">GRANT1</c:GrantsGovTrackingNumber></a:GetApplicationZipRequest></soap:Body></soap:Envelope>`;

async function start(t: ExecutionContext, migration: object, more: Partial<SiteOptions> = {}): Promise<Site> {
  const site = await startSite(t, {
    contract: contractFolder('contracts/agency'),
    config: { legacy: '{legacy}', migration },
    callers: ['acme', 'tester'],
    ...more,
  });
  site.legacy.answer = { status: 200, body: 'legacy' };
  site.upstream.answer = {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"FileDataHandler":"UEsDBA=="}',
  };
  return site;
}

test('G10: the override header works for listed callers only, and others are counted', async (t) => {
  const site = await start(t, { override: { callers: ['tester'] } });
  const call = async (word: string, caller: string | undefined) => {
    await site.send({ path, headers: { ...headers, 'x-soapbridge-route': word }, body, caller });
    const { mode, rule } = site.log().findLast(({ ms }) => ms !== undefined) ?? {};
    return `${mode} ${rule}`;
  };
  t.is(await call('new', 'tester'), 'new override');
  t.is(await call('legacy', 'tester'), 'legacy override');
  t.is(await call('new', 'acme'), 'legacy otherwise');
  t.is(await call('new', undefined), 'legacy otherwise');
  t.is(await call('compare', 'tester'), 'compare override');
  t.is(await call('compare', 'acme'), 'legacy otherwise');
  t.is(await call('blend', 'tester'), 'legacy otherwise');
  const metrics = site.running.metrics();
  const refused = metrics.find(({ name }) => name === 'migration_overrides_refused_total');
  t.is(refused?.samples[0]?.value, 4);
  t.false(site.legacy.hits.some(({ headers: sent }) => 'x-soapbridge-route' in sent));
});

test('G10: an override header without effect is counted once for every kind of request', async (t) => {
  const value = { GrantsGovTrackingNumber: 'GRANT8' };
  const site = await start(t, {
    override: { callers: ['tester'] },
    routes: [{ name: 'r', operations: [zip], mode: 'new', when: { value } }],
  });
  const refused = () =>
    site.running.metrics().find(({ name }) => name === 'migration_overrides_refused_total')?.samples[0]
      ?.value;
  const countedFor = async (word: string, caller: string, call: Partial<Parameters<Site['send']>[0]>) => {
    const before = refused() ?? 0;
    await site.send({ path, headers: { ...headers, 'x-soapbridge-route': word }, body, caller, ...call });
    return (refused() ?? 0) - before;
  };
  const json = {
    path: `/json/reply/${zip}`,
    headers: { 'Content-Type': 'application/json', 'x-soapbridge-route': 'new' },
    body: '{"GrantsGovTrackingNumber":"GRANT1"}',
  };
  const other = { method: 'GET', path: `${path}?disco`, body: undefined };
  for (const call of [{}, json, { body: '<a' }, { body: body.replace('</soap:Body>', '') }, other])
    t.is(await countedFor('new', 'acme', call), 1, JSON.stringify(call));
  t.is(await countedFor('new', 'tester', {}), 0);
  t.is(await countedFor('new', 'tester', json), 0);
  for (const call of [{ body: '<a' }, other]) {
    t.is(await countedFor('legacy', 'tester', call), 0);
    t.is(await countedFor('new', 'tester', call), 1, 'the side cannot be chosen');
  }
});

test('G13: callers of JSON get 501 unless the mode is new', async (t) => {
  const value = { GrantsGovTrackingNumber: { startsWith: 'GRANT8' } };
  const site = await start(t, { routes: [{ name: 'r', operations: [zip], mode: 'new', when: { value } }] });
  const call = (number: string) =>
    site.send({
      path: `/json/reply/${zip}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ GrantsGovTrackingNumber: number }),
    });
  const served = await call('GRANT80');
  t.is(served.status, 200);
  t.is(served.body.toString(), '{"FileDataHandler":"UEsDBA=="}');
  const refused = await call('GRANT10');
  t.is(refused.status, 501);
  t.regex(refused.body.toString(), /NotMigrated/);
  t.is(site.legacy.hits.length, 0);
  t.is(site.upstream.hits.length, 1);
  t.like(
    site.log().findLast(({ ms }) => ms !== undefined),
    { mode: 'legacy', rule: 'otherwise' },
  );
});

test('G51, G52: metrics and log fields of routed calls', async (t) => {
  const site = await start(t, {
    routes: [{ name: 'r', operations: [zip], mode: 'new', when: { caller: 'acme' } }],
  });
  await site.send({ path, headers, body, caller: 'acme' });
  await site.send({ path, headers, body, caller: 'tester' });
  await site.send({ path, headers, body });
  const valuesOf = (name: string) =>
    site.running
      .metrics()
      .find((family) => family.name === name)
      ?.samples.map(({ labels, value }) => `${labels} ${value}`);
  t.deepEqual(valuesOf('migration_calls_total'), [
    'contract="/",operation="GetApplicationZip",mode="new",side="new" 1',
    'contract="/",operation="GetApplicationZip",mode="legacy",side="legacy" 2',
  ]);
  t.deepEqual(valuesOf('legacy_replies_total'), ['contract="/",status="200" 2']);
  t.deepEqual(valuesOf('legacy_breaker_open'), ['contract="/" 0']);
  const counts = valuesOf('migration_seconds')?.filter(
    (line) => !line.includes('le=') || line.includes('+Inf'),
  );
  t.is(counts?.length, 6);
  const lines = site.log().filter(({ ms }) => ms !== undefined);
  t.like(lines[0], { mode: 'new', rule: 'r', side: 'new', caller: 'acme' });
  t.like(lines[1], {
    mode: 'legacy',
    rule: 'otherwise',
    side: 'legacy',
    legacyStatus: 200,
    caller: 'tester',
  });
  t.is(typeof lines[1]?.legacyMs, 'number');
  t.false(JSON.stringify(lines).includes('GRANT1'));
});

test('G14, G32, G51: a fallback counts once against the limits of a caller, and refused calls are in the metrics', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-limits-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const callerLimits = join(folder, 'caller-limits.yaml');
  writeFileSync(callerLimits, 'each: { quota: 3, concurrent: 1 }');
  const routes = [{ name: 'f', operations: [zip], mode: 'fallback', when: { caller: 'acme' } }];
  const site = await start(t, { routes }, { serve: { callerLimits } });
  site.upstream.answer = { status: 404 };
  const call = async (caller: string) => {
    const got = await site.send({ path, headers, body, caller });
    return String(got.headers['x-status'] ?? got.body);
  };
  const got: string[] = [];
  for (const caller of ['acme', 'acme', 'tester', 'tester', 'acme']) got.push(await call(caller));
  t.deepEqual(got, ['legacy', 'legacy', 'legacy', '429', '429']);
  const calls = site.running.metrics().find(({ name }) => name === 'migration_calls_total');
  t.deepEqual(
    calls?.samples.map(({ labels, value }) => `${labels.replace(/.*mode/, 'mode')} ${value}`),
    ['mode="fallback",side="legacy" 2', 'mode="legacy",side="legacy" 2', 'mode="fallback",side="new" 1'],
  );
});

test('G22: a read with RelatesTo, a nonce or a Timestamp is sent to the new service once', async (t) => {
  const list = 'GetSubmissionList';
  const message = (header: string) =>
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">${header}<s:Body><a:${list}Request xmlns:a="http://desk.example/services/Agency-V2"/></s:Body></s:Envelope>`;
  const blend = { [list]: { list: 'SubmissionInfo' } };
  for (const [mode, isBlend] of [
    ['new', false],
    ['fallback', false],
    ['blend', true],
  ] as const) {
    const routes = [{ name: 'r', operations: [list], mode }];
    const site = await start(t, { routes, ...(isBlend ? { blend } : {}) });
    site.upstream.answer = { fails: 'resetAfterRequest' };
    site.legacy.answer = { status: 200, headers: { 'content-type': 'text/xml' }, body: '' };
    const hitsOf = async (header: string) => {
      const before = site.upstream.hits.length;
      await site.send({ path, headers, body: message(header) });
      return site.upstream.hits.length - before;
    };
    t.is(await hitsOf(''), 2, mode);
    t.is(await hitsOf('<s:Header><w:RelatesTo xmlns:w="urn:w">x</w:RelatesTo></s:Header>'), 1, mode);
    t.is(await hitsOf('<s:Header><w:Timestamp xmlns:w="urn:w"/></s:Header>'), 1, mode);
  }
});
