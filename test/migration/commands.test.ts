import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { run } from '../gateway/commands/run.ts';
import { contractFolder } from './scenario.ts';

const number = 'GrantsGovTrackingNumber';
const routes = [
  { name: 'pilot', operations: ['GetOpportunityList'], mode: 'new', when: { caller: 'acme' } },
  {
    name: 'new numbers',
    operations: ['GetApplicationZip', 'ConfirmApplicationDelivery'],
    mode: 'new',
    when: { value: { [number]: { startsWith: ['GRANT8', 'GRANT9'] } } },
  },
  { name: 'ramp', operations: ['GetOpportunityList'], mode: 'new', when: { percent: 25 } },
  { name: 'lists', operations: ['GetSubmissionList'], mode: 'fallback' },
];

function filesOf(
  t: ExecutionContext,
  rules: readonly object[] = routes,
  keys: object = {},
): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-routes-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const contract = {
    contract: contractFolder('contracts/agency'),
    upstream: 'http://new.example',
    legacy: 'http://legacy.example',
    migration: { routes: rules, ...keys },
  };
  writeFileSync(join(folder, 'soapbridge.yaml'), JSON.stringify({ contracts: { '/agency': contract } }));
  writeFileSync(join(folder, 'callers.yaml'), '{ acme: ["4711"] }');
  return ['--config', join(folder, 'soapbridge.yaml'), '--callers', join(folder, 'callers.yaml')];
}

const table = `/agency: legacy service http://legacy.example
  rule pilot: new for GetOpportunityList if the caller is acme.
  rule new numbers: new for GetApplicationZip, ConfirmApplicationDelivery if GrantsGovTrackingNumber starts with GRANT8 or GRANT9.
  rule ramp: new for GetOpportunityList if the caller is among 25 % of the callers.
  rule lists: fallback for GetSubmissionList.
  GetSubmissionList: fallback ("lists").
  GetOpportunityList: new if the caller is acme ("pilot"), else new if the caller is among 25 % of the callers ("ramp"), else legacy.
  GetApplicationZip: new if GrantsGovTrackingNumber starts with GRANT8 or GRANT9 ("new numbers"), else legacy.
  ConfirmApplicationDelivery: new if GrantsGovTrackingNumber starts with GRANT8 or GRANT9 ("new numbers"), else legacy.
  NotifyArrival: legacy.
  writes: ConfirmApplicationDelivery, NotifyArrival
`;

test('G49: `routes` and `check` print each rule and each operation as a sentence', async (t) => {
  const files = filesOf(t);
  const { code, out, err } = await run(t, ['routes', ...files]).ended;
  t.is(err, '');
  t.is(code, 0);
  t.is(out, table);
  const checked = await run(t, ['check', ...files]).ended;
  t.is(checked.code, 0);
  t.true(checked.out.includes(table));
  const json = await run(t, ['routes', '--json', ...files]).ended;
  t.deepEqual(JSON.parse(json.out).contracts[0].writes, ['ConfirmApplicationDelivery', 'NotifyArrival']);
});

test('G49: the sentence of a compared operation has the settings that differ from the defaults', async (t) => {
  const operations = ['GetApplicationZip'];
  const files = filesOf(t, [
    { name: 'a', operations, mode: 'compare', when: { caller: 'acme' } },
    { name: 'b', operations, mode: 'compare', answer: 'new', sample: '1 in 20' },
  ]);
  const { out } = await run(t, ['routes', ...files]).ended;
  t.true(
    out.includes(
      'GetApplicationZip: compare if the caller is acme ("a"), else compare (answer new, sample 5 %) ("b").\n',
    ),
    out,
  );
});

test('G4: `check` reports errors of routes with file, line and pointer', async (t) => {
  const files = filesOf(t, [{ name: 'x', operations: ['GetOpportunityLists'], mode: 'new' }]);
  const { code, err } = await run(t, ['check', ...files]).ended;
  t.is(code, 2);
  t.regex(
    err,
    /soapbridge\.yaml:1#\/contracts\/~1agency\/migration\/routes\/0\/operations\/0: expected an operation/,
  );
});

const envelope = (operation: string, inner: string) =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><a:${operation}Request xmlns:a="http://desk.example/services/Agency-V2" xmlns:c="http://desk.example/system/Common-V1">${inner}</a:${operation}Request></soap:Body></soap:Envelope>`;

test('G49: `routes explain` prints operation, mode and rule of a message', async (t) => {
  const files = filesOf(t);
  const explain = async (message: string, ...args: readonly string[]) => {
    const { out, err } = await run(t, ['routes', 'explain', ...files, ...args], {}, message).ended;
    return out + err;
  };
  const [zip, list] = [
    (text: string) => envelope('GetApplicationZip', `<c:${number}>${text}</c:${number}>`),
    envelope('GetOpportunityList', ''),
  ];
  t.is(await explain(zip('GRANT81')), 'GetApplicationZip: new ("new numbers")\n');
  t.is(await explain(zip('GRANT11')), 'GetApplicationZip: legacy ("otherwise")\n');
  t.is(await explain(list, '--caller', 'acme'), 'GetOpportunityList: new ("pilot")\n');
  t.is(await explain(list, '--caller', 'initech'), 'GetOpportunityList: new ("ramp")\n');
  t.is(await explain(list, '--caller', 'umbrella'), 'GetOpportunityList: legacy ("otherwise")\n');
  t.is(await explain('<a'), '?: legacy ("unreadable")\n');
  const header = ['--header', 'SOAPAction: "http://desk.example/GetApplicationZip"', '--json'];
  t.deepEqual(JSON.parse(await explain(list, ...header)), {
    operation: '?',
    mode: 'legacy',
    rule: 'unreadable',
  });
});

test('G48: `check` reports a state file that cannot be written or is damaged', async (t) => {
  for (const [state, expected] of [
    [
      'missing/state.json',
      /\/migration\/state: expected a file in a folder that exists and is writable, got /,
    ],
    [
      'callers.yaml',
      /\/migration\/state: .*callers\.yaml: expected a migration state, got a file that is not JSON/,
    ],
  ] as const) {
    const files = filesOf(t, routes, { state });
    const { code, err } = await run(t, ['check', ...files]).ended;
    t.is(code, 2);
    t.regex(err, expected);
    t.regex(err, /soapbridge\.yaml:1#\/contracts\/~1agency\/migration\/state: /);
  }
});

test('G49, G65: `routes` and `check` print deprecations as sentences, without legacy, too', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-routes-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const deprecate = [
    {
      operations: ['GetOpportunityList'],
      since: '2026-01-01T00:00:00Z',
      sunset: '2026-12-31T23:59:59Z',
      brownouts: [{ at: '2026-12-01T09:00:00Z', for: '10m' }],
      exempt: { acme: '2027-03-31T00:00:00+02:00' },
    },
  ];
  const contract = { contract: contractFolder('contracts/agency'), upstream: 'http://new.example' };
  const contracts = { '/agency': { ...contract, migration: { deprecate } } };
  writeFileSync(join(folder, 'soapbridge.yaml'), JSON.stringify({ contracts }));
  writeFileSync(join(folder, 'callers.yaml'), '{ acme: ["4711"] }');
  const files = ['--config', join(folder, 'soapbridge.yaml'), '--callers', join(folder, 'callers.yaml')];
  const expected = `/agency: no legacy service
  GetOpportunityList: deprecated since 2026-01-01T00:00:00Z, refused after 2026-12-31T23:59:59Z, refused from 2026-12-01T09:00:00Z to 2026-12-01T09:10:00Z, acme is exempt until 2027-03-30T22:00:00Z.
`;
  t.is((await run(t, ['routes', ...files]).ended).out, expected);
  const checked = await run(t, ['check', ...files]).ended;
  t.is(checked.code, 0, checked.err);
  t.true(checked.out.includes(expected));
  const wrong = JSON.stringify({ contracts: { '/agency': { ...contract, migration: { deprecate: [{}] } } } });
  writeFileSync(join(folder, 'soapbridge.yaml'), wrong);
  const failed = await run(t, ['check', ...files]).ended;
  t.is(failed.code, 2);
  t.regex(failed.err, /deprecate\/0: expected since, the time of the deprecation, got none/);
});
