import test, { type ExecutionContext } from 'ava';
import { bucketOf, compileDecision, type Facts } from '../../gateway/migration/decide.ts';
import { checkMigrations } from '../../gateway/migration/migrations.ts';
import { fulfils } from '../../gateway/migration/values.ts';
import type { StatedMigration } from '../../gateway/process/migration-setting.ts';
import { createCallers } from '../../gateway/telemetry/callers.ts';
import { ContractError } from '../../mappings/loader/document/error.ts';
import { readContract } from '../../mappings/loader/load.ts';
import { contractFolder } from './scenario.ts';

const { contract } = readContract(contractFolder('contracts/agency'));
const callers = createCallers({ namesById: new Map([['1', 'acme']]) });

function check(stated: StatedMigration, unmapped: readonly string[] = []) {
  const plan = {
    file: 'soapbridge.yaml',
    at: '/contracts/~1',
    url: 'http://legacy.example',
    service: undefined,
    limits: {},
    identity: undefined,
    hasStore: false,
    others: 'forward',
    stated,
    clientCertificate: undefined,
  } as const;
  return checkMigrations([{ contract, plan, unmapped }], callers, ['http://gateway.example']);
}

function problemsOf(t: ExecutionContext, stated: StatedMigration, unmapped: readonly string[] = []) {
  const error = t.throws(() => check(stated, unmapped), { instanceOf: ContractError });
  return error?.problems.map(({ pointer, message }) => `${pointer.replace(/^.*?migration/, '')}: ${message}`);
}

const zip = 'GetApplicationZip';

/** Returns the rule that decides about a call. */
function ruleOf(
  stated: StatedMigration,
  facts: Partial<Facts> & { readonly json?: unknown },
  operation = zip,
) {
  const [checked] = check(stated);
  if (checked === undefined) throw new Error('expected a checked contract');
  const decide = compileDecision(
    checked.routing,
    contract.operations.map(({ name }) => name),
  );
  const found = decide(operation, {
    caller: undefined,
    callerKey: () => 'net 127.0.0.1',
    rawHeaders: [],
    request: facts.json === undefined ? undefined : { json: facts.json },
    ...facts,
  });
  return found === 'payload' ? found : found.rule;
}

test('G6: rules are checked from first to last, and `otherwise` follows', (t) => {
  const routes: StatedMigration['routes'] = [
    { name: 'first', operations: [zip], mode: 'new', when: { caller: 'acme' } },
    { name: 'second', operations: [zip], mode: 'new', when: { header: new Map([['x-a', 'b']]) } },
  ];
  t.is(ruleOf({ routes }, { caller: 'acme', rawHeaders: ['X-A', 'b'] }), 'first');
  t.is(ruleOf({ routes }, { rawHeaders: ['X-A', 'b'] }), 'second');
  t.is(ruleOf({ routes }, {}), 'otherwise');
  t.is(ruleOf({ routes }, { caller: 'acme' }, 'NotifyArrival'), 'otherwise');
});

test('G7: headers are compared byte by byte, and any line may match', (t) => {
  const header = new Map<string, unknown>([['X-Site', ['a', 'ü']]]);
  const routes: StatedMigration['routes'] = [{ name: 'r', mode: 'new', when: { header } }];
  const found = (...rawHeaders: readonly string[]) => ruleOf({ routes }, { rawHeaders });
  t.is(found('x-site', 'b', 'X-SITE', 'a'), 'r');
  t.is(found('x-site', Buffer.from('ü').toString('latin1')), 'r');
  t.is(found('x-site', 'A'), 'otherwise');
});

test('G8: values by text, list, start, presence and absence', (t) => {
  const found = (wanted: unknown, json: unknown) =>
    ruleOf(
      {
        routes: [
          {
            name: 'r',
            operations: [zip],
            mode: 'new',
            when: { value: new Map([['GrantsGovTrackingNumber', wanted]]) },
          },
        ],
      },
      { json },
    );
  const json = { GrantsGovTrackingNumber: ' GRANT8 ' };
  t.is(found('GRANT8', json), 'r');
  t.is(found(['X', 'GRANT8'], json), 'r');
  t.is(found({ startsWith: 'GRANT' }, json), 'r');
  t.is(found('present', json), 'r');
  t.is(found('absent', json), 'otherwise');
  for (const empty of [{}, { GrantsGovTrackingNumber: null }]) {
    t.is(found('absent', empty), 'r');
    for (const wanted of ['present', 'GRANT8', '', { startsWith: '' }])
      t.is(found(wanted, empty), 'otherwise');
  }
  t.is(found('010', { GrantsGovTrackingNumber: '10' }), 'otherwise', 'a text is not a number');
});

test('G8: numbers are compared by value, with an exponent or without one', (t) => {
  const isFound = (given: string, wanted: string, isNumber = true) =>
    fulfils(
      { Amount: given },
      {
        path: [{ kind: 'member', name: 'Amount' }],
        pathText: 'Amount',
        test: { kind: 'equals', texts: [wanted] },
        numericIn: new Set(isNumber ? ['Op', 'Third'] : ['Other']),
      },
      'Op',
    );
  for (const same of ['0.15', '1.5E-1', '15e-2', '+00.150', '.15', '0.0015e2', '150E-003'])
    t.true(isFound(same, '0.15'), same);
  for (const same of ['0', '-0', '0.0', '+.0', '0E5', '00.']) t.true(isFound(same, '0'), same);
  for (const same of ['1000', '1e3', '1000.', '0.1E4']) t.true(isFound(same, '1E3'), same);
  for (const other of ['-0.15', '1.5', '0.151', '', '.', '+', 'E-1', '0.15x', '0x.15'])
    t.false(isFound(other, '0.15'), other);
  for (const same of ['INF', 'NaN']) t.true(isFound(same, same), same);
  t.false(isFound('', '0'));
  t.false(isFound('1.5E-1', '0.15', false), 'a text is not a number');
});

test('G8: the payload is needed only if the other conditions hold', (t) => {
  const value = new Map([['GrantsGovTrackingNumber', 'present']]);
  const routes: StatedMigration['routes'] = [
    { name: 'r', operations: [zip], mode: 'new', when: { caller: 'acme', value } },
  ];
  t.is(ruleOf({ routes }, {}), 'otherwise');
  t.is(ruleOf({ routes }, { caller: 'acme' }), 'payload');
});

test('G9: a percentage of values, and of callers', (t) => {
  const by = 'GrantsGovTrackingNumber';
  const routes: StatedMigration['routes'] = [
    { name: 'r', operations: [zip], mode: 'new', when: { percent: { of: 50, by } } },
  ];
  t.is(ruleOf({ routes }, { json: {} }), 'otherwise');
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f'])
    t.is(
      ruleOf({ routes }, { json: { [by]: text } }),
      bucketOf('r', `value ${text}`) < 50 ? 'r' : 'otherwise',
    );
  const shareOf = (percent: number) =>
    Array.from({ length: 2_000 }, (_, index) => bucketOf('r', `id ${index}`)).filter((at) => at < percent)
      .length;
  t.true(Math.abs(shareOf(25) - 500) < 80);
  t.is(shareOf(100), 2_000);
  t.is(shareOf(0), 0);
});

test('G3, G4: all problems of the routes are reported at once', (t) => {
  const routes = [
    { operations: ['NotifyArrival'], mode: 'fallback' },
    { name: 'a', operations: ['Nothing'], mode: 'compare' },
    { name: 'b', operations: [zip], mode: 'compare' },
    { name: 'c', operations: [zip], mode: 'new', when: { caller: 'acne', percent: -1 } },
    {
      name: 'd',
      operations: [zip],
      mode: 'new',
      when: { value: new Map<string, unknown>([['Number', 'x']]) },
    },
    { name: 'e', operations: [zip], mode: 'new', when: { percent: { of: 5 } } },
  ] as StatedMigration['routes'];
  const problems = problemsOf(t, {
    routes,
    override: {},
    fallback: new Map([[zip, ['NotFound']]]),
  });
  t.deepEqual(problems, [
    '/routes/0: expected name, the name of the rule, got none',
    '/routes/0/mode: expected legacy or new for NotifyArrival, a write, got fallback',
    '/routes/1/operations/0: expected an operation of the contract, got Nothing',
    '/routes/3/when/caller: expected a name of callers.yaml or a pseudonym, got acne, did you mean acme?',
    '/routes/3/when/percent: expected 0 to 100, got -1',
    '/routes/4/when/value/Number: expected a path in the request of GetApplicationZip, got Number',
    '/routes/5/when/percent: expected a number, or { of: number, by: path }',
    '/fallback/GetApplicationZip/0: expected a declared fault of GetApplicationZip, got NotFound',
    '/override: expected callers, the callers that may send the header, got none',
  ]);
});

test('G3: a contract has at most 200 rules', (t) => {
  const rules = (count: number): StatedMigration => ({
    routes: Array.from({ length: count }, (_, index) => ({ name: `r${index}`, mode: 'legacy' })),
  });
  t.notThrows(() => check(rules(200)));
  t.deepEqual(problemsOf(t, rules(201)), ['/routes: expected at most 200 rules, got 201']);
});

test('G4: an operation without a rule of mapping.yaml may only be routed to the legacy service', (t) => {
  t.notThrows(() => check({ routes: [{ name: 'a', operations: [zip], mode: 'legacy' }] }, [zip]));
  t.deepEqual(problemsOf(t, { routes: [{ name: 'a', operations: [zip], mode: 'new' }] }, [zip]), [
    '/routes/0/mode: expected a rule of mapping.yaml for GetApplicationZip, routed to new, got none',
  ]);
});

test('G4: routes that are probably mistakes get a warning', (t) => {
  const [unreachable] = check({
    routes: [
      { name: 'a', mode: 'new' },
      { name: 'b', operations: [zip], mode: 'legacy' },
    ],
  });
  t.deepEqual(unreachable?.warnings, ['route b: no call reaches it, because earlier rules match all calls']);
  const [apart] = check({
    routes: [{ name: 'w', operations: ['NotifyArrival'], mode: 'new', when: { percent: 10 } }],
  });
  t.regex(apart?.warnings[0] ?? '', /^route w: routes a share of NotifyArrival, a write, while \w+, a read/);
});

type BlendSettings = Exclude<StatedMigration['blend'], undefined>;

test('G3, G28: problems of blended operations', (t) => {
  const blend: BlendSettings = new Map([
    ['NotifyArrival', { list: 'X' }],
    ['GetSubmissionLists', { list: 'X' }],
    [zip, {}],
    ['GetOpportunityList', { list: 'OpportunityDetail' }],
    [
      'GetSubmissionList',
      {
        list: 'SubmissionInfo',
        order: {},
        timeZone: 'Mars/Olympus',
        counts: ['Success', 'SubmissionInfo', 'AvailableApplicationNumber', 'x[0]'],
        emptyFaults: { legacy: ['NoSubmission'], new: ['NoSubmissions'] },
      },
    ],
  ]);
  t.deepEqual(problemsOf(t, { blend }), [
    '/blend/NotifyArrival: expected a read, got NotifyArrival, a write',
    '/blend/GetSubmissionLists: expected an operation of the contract, got GetSubmissionLists, did you mean GetSubmissionList?',
    '/blend/GetApplicationZip: expected list, the path of a list in the reply, got none',
    '/blend/GetOpportunityList/list: expected a path to a list in the reply, got OpportunityDetail, did you mean OpportunityDetails?',
    '/blend/GetSubmissionList/counts/0: expected a path to an integer in the reply, got Success, a boolean',
    '/blend/GetSubmissionList/counts/1: expected a path to an integer in the reply, got SubmissionInfo, a list',
    '/blend/GetSubmissionList/counts/3: expected a path to an integer in the reply, got x[0]',
    '/blend/GetSubmissionList/timeZone: expected a time zone of the IANA database, got Mars/Olympus',
    '/blend/GetSubmissionList/emptyFaults/legacy/0: expected a declared fault of GetSubmissionList, got NoSubmission, did you mean NoSubmissions?',
    '/blend/GetSubmissionList/order: expected by, the member to sort by, got none',
  ]);
  const wrong = { list: 'OpportunityDetails', key: 'Cfda', order: { by: 'OpeningDates' } };
  t.deepEqual(problemsOf(t, { blend: new Map([['GetOpportunityList', wrong]]) }), [
    '/blend/GetOpportunityList/order/by: expected a path to a single scalar of an item, got OpeningDates, did you mean OpeningDate?',
    '/blend/GetOpportunityList/key: expected a path to a single scalar of an item, got Cfda, a list',
  ]);
});
