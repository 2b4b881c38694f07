import { readFileSync } from 'node:fs';
import test from 'ava';
import { LineBuffer } from '../../gateway/telemetry/line-buffer.ts';
import { compileRequestLine } from '../../gateway/telemetry/log.ts';
import { createMetrics } from '../../gateway/telemetry/request-metrics.ts';
import { type Noted, startStats } from '../../gateway/telemetry/request-stats.ts';
import { deviations } from '../../mappings/codec/problem.ts';
import { formerLimits } from '../../mappings/contract/former-limits.ts';
import {
  defaultLimits,
  type LimitName,
  limitsWith,
  limitTable,
  readLimits,
} from '../../mappings/contract/limits.ts';
import { allLimits, constantLimits } from '../constant-limits.ts';
import { formerLimitRows, formerLimitTableForm, limitRows, limitTableForm } from './limit-rows.ts';
import { limitTests } from './limit-tests.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const limitsPage = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');

test('docs/limits.md lists every limit with its default, in the order of limits.ts', (t) => {
  t.is(limitTableForm.exec(limitsPage)?.[0], limitRows, '`npm run golden` rewrites it');
});

test('docs/operations.md documents every metric', (t) => {
  const idle = {
    inFlight: 0,
    queued: 0,
    arriving: 0,
    leaving: 0,
    heldBytes: 0,
    shed: 0,
    connections: 0,
    loopDelayMs: 0,
  };
  const snapshot = createMetrics().read({ ...idle, droppedLines: 0, upstreamStates: new Map() });
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const missing = snapshot.filter(
    ({ name }) => !rows.some((row) => row.split('|')[1]?.includes(`\`${name}\``)),
  );
  t.deepEqual(missing, []);
});

test('docs/operations.md documents every field of a log line', (t) => {
  const noted = {
    ignored: ['a'],
    quirks: 1,
    dropped: 1,
    missing: 1,
    replaced: 1,
    passed: 1,
    inexact: 1,
    members: ['a'],
    deviations: ['decimalExponent'],
  } satisfies Required<Noted>;
  const told: string[] = [];
  const line = new LineBuffer({ write: (lines) => told.push(lines.toString()) }, 1);
  compileRequestLine('/v2')(
    {
      ...startStats('request-1', 'POST'),
      operation: 'A',
      meant: 404,
      caller: 'acme',
      error: 'NotFound',
      fault: 'MustUnderstand',
      block: '{urn:a}b',
      sent: 2,
      retries: 1,
      queueMs: 1,
      aborted: true,
      upstream: 'http://127.0.0.1',
      failures: [{ attempt: 1, cause: 'status' }],
      noted,
      unverified: ['Signature'],
      written: 'answered',
    },
    line,
  );
  const rows = page.split('\n').filter((row) => row.startsWith('| `'));
  const names = [...Object.keys(JSON.parse(told.join(''))), ...Object.keys(noted)];
  t.true(names.length > 30);
  t.deepEqual(
    names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``))),
    [],
  );
});

test('docs/operations.md documents every tolerated deviation', (t) => {
  const undocumented = deviations.filter((name) => !page.includes(`\n| \`${name}\` | `));
  t.deepEqual(undocumented, []);
});

test('docs/upgrading.md lists every limit that earlier versions could set', (t) => {
  const upgrading = readFileSync(new URL('../../docs/upgrading.md', import.meta.url), 'utf8');
  t.is(formerLimitTableForm.exec(upgrading)?.[0], formerLimitRows, '`npm run golden` rewrites it');
});

test('docs/limits.md: each fixed limit has the value of its constant', (t) => {
  const values = new Map(
    formerLimitRows
      .split('\n')
      .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
      .map(([name = '', value = '']) => [name, value]),
  );
  const [, section = ''] = limitsPage.split('\n## Fixed limits\n');
  const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| (`\w+`) \| ([^|]+) \|/gm)];
  t.true(rows.length > 20);
  for (const [, name = '', value] of rows) t.is(value, values.get(name), name);
});

test('at most 55 limits can be set, each described in at most two sentences', (t) => {
  t.true(Object.keys(limitTable).length <= 55);
  for (const [name, { bounds }] of Object.entries(limitTable)) {
    t.regex(bounds, /^[A-Z0-9][^.]*(?:\.\d[^.]*)*\.(?: [A-Z0-9][^.]*(?:\.\d[^.]*)*\.)?$/, name);
    t.false(name in formerLimits, name);
  }
});

test('the constants have the values that docs/upgrading.md reports', (t) => {
  const constants: Readonly<Record<string, number>> = constantLimits;
  for (const [name, now] of Object.entries(formerLimits))
    if (typeof now === 'number') t.is(constants[name], now, name);
});

for (const name of Object.keys(allLimits) as (keyof typeof allLimits)[]) {
  test(`${name} is tested at the limit and above it`, (t) => {
    const [file, words] = limitTests[name];
    t.true(
      readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').includes(words),
      `${file}: ${words}`,
    );
  });
}

test('limits are set by name; the others keep their defaults', (t) => {
  t.deepEqual(readLimits(''), defaultLimits);
  t.deepEqual(readLimits(' inFlight = 3 , queue=0,'), { ...defaultLimits, inFlight: 3, queue: 0 });
  for (const name of Object.keys(limitTable) as LimitName[]) t.is(readLimits(`${name}=77`)[name], 77);
});

for (const [list, message] of [
  [
    'inflight=3',
    'limits: expected a limit and its value, such as inFlight=256, got "inflight=3". Did you mean inFlight?',
  ],
  ['queue=1,inFlight', 'limits: expected a limit and its value, such as inFlight=256, got "inFlight"'],
  ['inFlight=1.5', 'limits: expected a limit and its value, such as inFlight=256, got "inFlight=1.5"'],
  ['toString=1', 'limits: expected a limit and its value, such as inFlight=256, got "toString=1"'],
  ['inFlight=0', 'limits: inFlight: expected a number from 1 to 2147483647, got 0'],
  ['queue=2147483648', 'limits: queue: expected a number from 0 to 2147483647, got 2147483648'],
] as const) {
  test(`SOAPBRIDGE_LIMITS "${list}" is refused`, (t) => {
    t.throws(() => readLimits(list), { instanceOf: RangeError, message });
  });
}

test('a limit that earlier versions could set is refused, and the message names its replacement', (t) => {
  for (const [name, now] of Object.entries(formerLimits)) {
    const form = typeof now === 'number' ? `a constant of ${now}` : now;
    const message = `limits: expected a limit that can be set, got ${name}, which is ${form} now (docs/upgrading.md)`;
    t.throws(() => readLimits(`inFlight=3,${name}=7`), { instanceOf: RangeError, message });
    t.throws(() => limitsWith({ [name]: 7 }), { instanceOf: RangeError, message });
  }
});
