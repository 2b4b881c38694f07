import test from 'ava';
import { Evidence, quantileOf } from '../../gateway/migration/evidence.ts';
import { reportOperations } from '../../gateway/migration/report.ts';
import { createCallers } from '../../gateway/telemetry/callers.ts';
import type { Comparison, Difference } from '../../mappings/compare/comparison.ts';

const day = 24 * 60 * 60 * 1_000;
const ready = { calls: 2, callers: 1, days: 7, unanswered: 0.01 };

function create({ maxFindings = 100, key = '' } = {}): Evidence {
  const { pseudonymOf } = createCallers(key === '' ? {} : { key: Buffer.from(key) });
  return new Evidence({ contract: '/', maxFindings, reasons: ['rounded up', 'own codes'], pseudonymOf });
}

const equal: Comparison = { result: 'equal', differences: [], explained: [], notes: [], more: 0 };

function different(...differences: readonly Difference[]): Comparison {
  return { ...equal, result: 'different', differences };
}

function valueAt(path: string, values: Partial<Difference> = {}): Difference {
  return { path, kind: 'value', class: 'other', legacy: '1', new: '2', ...values };
}

function add(evidence: Evidence, comparison: Comparison, call: object = {}): void {
  const usual = { operation: 'GetOrder', callerKey: 'id acme', callerName: 'acme', requestId: 'r', at: day };
  evidence.add({ ...usual, comparison, ...call });
}

test('G45: differences with the same operation, path without positions and kind are one finding', (t) => {
  const evidence = create();
  const both = different(valueAt('Line[0].Price'), valueAt('Line[4].Price'), valueAt('Total'));
  add(evidence, both, { requestId: 'r1' });
  add(evidence, both, { requestId: 'r2', callerKey: 'id initech', at: 3 * day });
  add(evidence, both, { operation: 'GetOffer', at: 2 * day });
  const { findings } = evidence.data();
  t.deepEqual(
    findings.map(({ operation, path, kind, count, calls }) => [operation, path, kind, count, calls]),
    [
      ['GetOrder', 'Line[].Price', 'value', 4, 2],
      ['GetOrder', 'Total', 'value', 2, 2],
      ['GetOffer', 'Line[].Price', 'value', 2, 1],
      ['GetOffer', 'Total', 'value', 1, 1],
    ],
  );
  t.like(findings[0], { first: day, last: 3 * day });
  t.is(findings[0]?.callers.length, 2);
  t.deepEqual(findings[1]?.examples[1], {
    path: 'Total',
    class: 'other',
    legacy: '1',
    new: '2',
    requestId: 'r2',
    caller: 'acme',
    at: 3 * day,
  });
});

test('G45: a finding has at most five examples with 256 characters per value', (t) => {
  const evidence = create();
  for (let call = 1; call <= 6; call++)
    add(evidence, different(valueAt('Total', { legacy: 'é'.repeat(257), new: 'x'.repeat(256) })));
  const [finding] = evidence.data().findings;
  t.is(finding?.count, 6);
  t.is(finding?.examples.length, 5);
  t.is(finding?.examples[0]?.legacy, 'é'.repeat(256));
  t.is(finding?.examples[0]?.new, 'x'.repeat(256));
});

test('G45: examples have pseudonyms for personal values, and no credentials or keys of items', (t) => {
  const personal = valueAt('A[Name=Ann].Name', { legacy: 'Ann', new: '(absent)', sensitivity: 'personal' });
  const secret = valueAt('Key', { legacy: 'hunter2', new: 'hunter3', sensitivity: 'credential' });
  for (const [key, pattern] of [
    ['0123456789abcdef', /^p-[\w-]{16}$/],
    ['', /^\*\*\*$/],
  ] as const) {
    const evidence = create({ key });
    add(evidence, { ...different(personal, secret), explained: [{ ...personal, rule: 0 }] });
    const data = evidence.data();
    t.notRegex(JSON.stringify(data), /Ann|hunter/);
    const [first, second, third] = data.findings.map(({ examples }) => examples[0]);
    t.regex(first?.legacy ?? '', pattern);
    t.is(first?.new, '(absent)');
    t.like(second, { legacy: '***', new: '***' });
    t.is(third?.legacy, first?.legacy);
  }
});

test('G45: equal personal values have one pseudonym, other values and contracts have others', (t) => {
  const shown = (contract: string, legacy: string): string | undefined => {
    const evidence = create({ key: '0123456789abcdef' });
    evidence.parts = { ...evidence.parts, contract };
    add(evidence, different(valueAt('Name', { legacy, sensitivity: 'personal' })));
    return evidence.data().findings[0]?.examples[0]?.legacy;
  };
  t.is(shown('/a', 'Ann'), shown('/a', 'Ann'));
  t.is(new Set([shown('/a', 'Ann'), shown('/a', 'Bob'), shown('/b', 'Ann')]).size, 3);
});

test('G44: an explained difference is a finding of its rule, with the reason', (t) => {
  const evidence = create();
  const price = valueAt('Total');
  add(evidence, {
    ...equal,
    result: 'explained',
    explained: [
      { ...price, rule: 0 },
      { ...price, rule: 1 },
    ],
  });
  add(evidence, { ...equal, result: 'explained', explained: [{ ...price, rule: 1 }] });
  const [operation] = reportOperations(evidence.data(), [], ready, 8 * day);
  t.deepEqual(
    operation?.findings.map(({ name, state, reason, calls }) => [name, state, reason, calls]),
    [
      ['Total value', 'explained', 'own codes', 2],
      ['Total value', 'explained', 'rounded up', 1],
    ],
  );
  t.is(operation?.verdict, 'ready');
});

test('G36: notes are reported and do not affect the verdict', (t) => {
  const evidence = create();
  const notes = [
    { path: 'Line[2].Placed', note: 'offset' },
    { path: 'Status', note: 'offContract', code: 'enum' },
  ] as const;
  for (let call = 0; call < 2; call++) add(evidence, { ...equal, notes });
  const [operation] = reportOperations(evidence.data(), [], ready, 8 * day);
  t.is(operation?.verdict, 'ready');
  t.deepEqual(
    operation?.findings.map(({ name, state, examples }) => [name, state, examples[0]?.class]),
    [
      ['Line[].Placed offset', 'note', undefined],
      ['Status offContract', 'note', 'enum'],
    ],
  );
});

test('findings: a finding above the limit replaces the least frequent one, and is counted (G45)', (t) => {
  const evidence = create({ maxFindings: 3 });
  add(evidence, different(valueAt('A'), valueAt('A'), valueAt('B'), valueAt('C')));
  add(evidence, different(valueAt('C'), valueAt('B')));
  const paths = (): string =>
    evidence
      .data()
      .findings.map(({ path, count }) => path + count)
      .join(' ');
  t.is(paths(), 'A2 B2 C2');
  t.is(evidence.data().operations[0]?.replaced, 0);
  add(evidence, different(valueAt('A'), valueAt('C'), valueAt('D')));
  t.is(paths(), 'A3 C3 D1');
  add(evidence, different(valueAt('E')));
  add(evidence, different(valueAt('E'), valueAt('F')));
  t.is(paths(), 'A3 C3 F1');
  t.is(evidence.data().operations[0]?.replaced, 3);
});

test('findings: always a finding with the smallest frequency is replaced (G45)', (t) => {
  const evidence = create({ maxFindings: 20 });
  const counted = new Map<string, number>();
  let seed = 7;
  for (let call = 0; call < 3_000; call++) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    const path = `P${(seed >> 8) % (call % 3 === 0 ? 200 : 25)}`;
    const before = new Set(counted.keys());
    const least = Math.min(...counted.values());
    add(evidence, different(valueAt(path)));
    const now = new Map(evidence.data().findings.map((one) => [one.path, one.count]));
    for (const gone of before) if (!now.has(gone)) t.is(counted.get(gone), least);
    t.is(now.get(path), (counted.get(path) ?? 0) + 1);
    counted.clear();
    for (const [one, count] of now) counted.set(one, count);
  }
  t.is(counted.size, 20);
});

test('findings: a smaller limit after a reload replaces several findings (G45)', (t) => {
  const evidence = create({ maxFindings: 3 });
  add(evidence, different(valueAt('A'), valueAt('A'), valueAt('B'), valueAt('C')));
  evidence.parts = { ...evidence.parts, maxFindings: 2 };
  add(evidence, different(valueAt('D')));
  t.deepEqual(
    evidence.data().findings.map(({ path }) => path),
    ['A', 'D'],
  );
  t.is(evidence.data().operations[0]?.replaced, 2);
});

test('findings: a replaced finding keeps its operation from being ready (G47)', (t) => {
  const evidence = create({ maxFindings: 1 });
  add(evidence, different(valueAt('A')), { at: 5 * day });
  add(evidence, equal, { at: day });
  evidence.merge({
    operations: [],
    findings: [{ ...finding('GetOffer', 'B'), count: 9, calls: 9 }],
  });
  const judged = (now: number) => reportOperations(evidence.data(), [], ready, now)[0];
  t.like(judged(12 * day), { verdict: 'different', replaced: 1, findings: [] });
  t.is(judged(12.5 * day)?.verdict, 'ready');
});

function finding(operation: string, path: string) {
  const times = { first: day, last: day };
  return {
    operation,
    path,
    kind: 'value' as const,
    count: 1,
    calls: 1,
    noise: 0,
    ...times,
    callers: [],
    examples: [],
  };
}

test('G45: the callers of a finding and of an operation are counted up to a maximum', (t) => {
  const evidence = create();
  for (let caller = 0; caller <= 1_000; caller++)
    add(evidence, different(valueAt('A')), { callerKey: `id ${caller}` });
  const { operations, findings } = evidence.data();
  t.is(operations[0]?.callers.length, 1_000);
  t.is(findings[0]?.callers.length, 32);
  t.is(operations[0]?.different, 1_001);
});

test('G46: a finding of the legacy service against itself is noise', (t) => {
  const evidence = create();
  for (let call = 0; call < 40; call++) {
    add(evidence, different(valueAt('Served'), valueAt('Total')));
    evidence.addNoise('GetOrder', different(valueAt('Served'), valueAt('Other')), day);
  }
  const [operation] = reportOperations(evidence.data(), [], ready, 8 * day);
  t.is(operation?.noisePairs, 40);
  t.deepEqual(
    operation?.findings.map(({ name, state }) => [name, state]),
    [
      ['Total value', 'different'],
      ['Served value', 'noise'],
    ],
  );
  t.is(operation?.verdict, 'different');
  const [family] = evidence.read();
  t.deepEqual(family?.samples, [
    {
      name: 'migration_noise_total',
      labels: 'contract="/",operation="GetOrder",result="different"',
      value: 40,
    },
  ]);
});

test('G47: a finding is open for `days` after it was last found', (t) => {
  const evidence = create();
  add(evidence, equal, { at: day });
  add(evidence, different(valueAt('A')), { at: 10 * day });
  const judged = (now: number) => reportOperations(evidence.data(), ['GetOrder', 'GetOffer'], ready, now);
  t.like(judged(17 * day)[0], { verdict: 'different', days: 7 });
  const [order, offer] = judged(17.1 * day);
  t.like(order, { verdict: 'ready', missing: [] });
  t.is(order?.findings[0]?.state, 'closed');
  t.like(offer, { operation: 'GetOffer', verdict: 'none', calls: 0 });
  const early = create();
  for (let call = 0; call < 2; call++) add(early, equal, { at: day });
  t.deepEqual(reportOperations(early.data(), [], ready, 7.9 * day)[0]?.missing, ['days']);
  early.unanswered('GetOrder', 1);
  t.deepEqual(reportOperations(early.data(), [], ready, 8 * day)[0]?.missing, ['unanswered']);
});

test('G48: merged evidence equals evidence of one process', (t) => {
  const [whole, one, other] = [create(), create(), create()];
  for (let call = 0; call < 20; call++) {
    const comparison = different(valueAt(`Line[${call}].Price`), valueAt(call % 3 === 0 ? 'A' : 'B'));
    const details = {
      at: day + call,
      callerKey: `id ${call % 7}`,
      requestId: `r${call}`,
      legacyMs: call,
      newMs: 3,
    };
    for (const evidence of [whole, call < 10 ? one : other]) {
      add(evidence, { ...comparison, more: 1 }, details);
      evidence.unanswered('GetOrder', 1);
      evidence.addNoise('GetOrder', comparison, day);
    }
  }
  const merged = create();
  for (const part of [one, other]) {
    const data = part.take();
    t.truthy(data);
    merged.merge(JSON.parse(JSON.stringify(data)));
    t.is(part.take(), undefined);
  }
  t.deepEqual(merged.data(), whole.data());
});

test('G50: quantiles of durations have an error of at most 5 %', (t) => {
  const evidence = create();
  for (let ms = 1; ms <= 1_000; ms++) add(evidence, equal, { legacyMs: ms, newMs: 0 });
  const [counts] = evidence.data().operations;
  const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => quantileOf(counts?.legacyMs ?? {}, share));
  t.true(Math.abs(p50 / 500 - 1) < 0.05);
  t.true(Math.abs(p99 / 990 - 1) < 0.05);
  t.is(quantileOf({}, 0.5), undefined);
  t.true((quantileOf(counts?.newMs ?? {}, 0.99) ?? 1) < 0.1);
});

test('G47: findings of items in both lists of a blend are no compared calls', (t) => {
  const evidence = create();
  const call = { operation: 'GetOrder', callerKey: 'id acme', callerName: 'acme', requestId: 'r', at: day };
  evidence.addFindings({ ...call, comparison: different(valueAt('Total')), legacyMs: 1, newMs: 1 });
  const taken = evidence.take() ?? { operations: [], findings: [] };
  t.like(taken.operations[0], { equal: 0, different: 0, first: 0, callers: [], legacyMs: {} });
  const [reported] = reportOperations(taken, [], ready, 2 * day);
  t.like(reported, { verdict: 'none', calls: 0 });
  t.is(reported?.findings[0]?.count, 1);
});

test('with a store, at most 10,000 hours and callers have counts, further callers are `other`', (t) => {
  const parts = { contract: '/', maxFindings: 10, reasons: [], pseudonymOf: undefined, hasHours: true };
  const evidence = new Evidence(parts);
  const hour = 60 * 60 * 1_000;
  // a row without a caller has the durations
  for (let caller = 1; caller <= 10_001; caller++)
    evidence.add({
      operation: 'GetOrder',
      callerKey: `id ${caller}`,
      callerName: `c${caller}`,
      requestId: 'r',
      comparison: { result: 'equal', differences: [], explained: [], notes: [], more: 0 },
      at: hour + 5,
    });
  const { operations } = evidence.data();
  t.is(operations.length, 10_001);
  t.is(
    operations.reduce((sum, { equal }) => sum + equal, 0),
    10_001,
  );
  t.like(
    operations.find(({ caller }) => caller === 'other'),
    { equal: 2, hour },
  );
  evidence.removeHours(hour);
  t.is(evidence.data().operations.length, 10_001);
  evidence.removeHours(hour + 1);
  t.is(evidence.data().operations.length, 0);
});
