import test from 'ava';
import { checks, problemOf } from './checks.ts';
import { canonical, readExact } from './exact-json.ts';
import { judgeRun } from './judge.ts';
import { knownGaps } from './known-gaps.ts';
import { splitRequests } from './relay.ts';
import { run } from './run-command.ts';
import { loadStacks, type Stack } from './stacks.ts';

const post = (body: string): string => `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

test('the requests of a connection are told apart, what is cut short is left out', (t) => {
  const sent = ['GET / HTTP/1.1\r\n\r\n', post('one'), chunked, post('two')];
  const bytes = Buffer.from(`${sent.join('')}POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort`);
  t.deepEqual(
    splitRequests(bytes).map((request) => request.toString()),
    sent,
  );
});

test('two JSON texts are the same whatever the order of members and with or without nulls, digit for digit', (t) => {
  const one = canonical(readExact('{"b":[1.50,9007199254740993],"a":{"y":null,"x":1}}'));
  t.is(one, canonical(readExact('{"a":{"x":1},"b":[1.50,9007199254740993]}')));
  t.not(one, canonical(readExact('{"a":{"x":1},"b":[1.50,9007199254740992]}')));
  t.not(one, canonical(readExact('{"a":{"x":1},"b":[1.5,9007199254740993]}')));
});

const dated = { read: { When: '2024-03-01T04:30:00Z', Wall: '2024-03-01T04:30:00', None: null } };

/** What a client printed, and what the harness says of it. */
const judged = [
  [['2024-02-29T23:30:00.000-05:00', '2024-03-01T04:30:00', null], undefined],
  [
    ['2024-03-01T04:30:00', '2024-03-01T04:30:00', null],
    'When: expected "2024-03-01T04:30:00Z", got "2024-03-01T04:30:00"',
  ],
  [
    ['2024-03-01T04:30:00Z', '2024-03-01T04:30:00Z', null],
    'Wall: expected "2024-03-01T04:30:00", got "2024-03-01T04:30:00Z"',
  ],
  [['2024-03-01T04:30:00Z', '2024-03-01T04:30:00', ''], 'None: expected null, got ""'],
  [['2024-03-01T04:30:00Z'], 'expected 3 values, got 1'],
] as const;

for (const [got, problem] of judged) {
  test(`a client that reads ${JSON.stringify(got)}: ${problem ?? 'right'}`, (t) => {
    t.is(problemOf(dated, '1.1', { situation: 'call', got }), problem);
  });
}

test('an error is a problem', (t) => {
  t.is(problemOf(dated, '1.1', { situation: 'call', error: 'refused' }), 'expected a reply, got refused');
});

test('the table calls each of the twelve operations', (t) => {
  const calls = checks.filter(({ situation }) => situation === 'call');
  t.is(new Set(calls.map(({ operation }) => operation)).size, 12);
});

test('each known gap is one of a stack that there is', (t) => {
  const names = loadStacks().map(({ name }) => name);
  for (const { stack } of knownGaps) t.true(names.includes(stack), stack);
});

const stack: Stack = { name: 'a', folder: '.', title: 'A', versions: ['1.1'], probe: 'true', builds: false };
const gap = { stack: 'a', check: 'import', reason: 'it never could' };
const imports = '{"situation":"import","got":[]}';

/** What a client printed, the known gaps, and what its check `import` comes to. */
const runs = [
  ['passes', imports, [], { outcome: 'passed' }],
  [
    'fails without a line',
    '{"situation":"imp',
    [],
    { outcome: 'failed', why: 'expected a line of it, got none' },
  ],
  [
    'fails without a line, known gap or not',
    '',
    [gap],
    { outcome: 'failed', why: 'expected a line of it, got none' },
  ],
  [
    'is a gap where a known gap says why it can’t pass',
    '{"situation":"import","error":"no"}',
    [gap],
    { outcome: 'gap', why: 'it never could' },
  ],
  [
    'fails where it passes after all',
    imports,
    [gap],
    { outcome: 'failed', why: 'passes, but known-gaps.ts says that it can’t' },
  ],
  ['knows no gap of another version', imports, [{ ...gap, version: '1.2' }], { outcome: 'passed' }],
] as const;

for (const [sentence, output, gaps, expected] of runs) {
  test(`a check ${sentence}`, (t) => {
    const [result] = judgeRun(stack, '1.1', { ok: true, output, errors: '' }, [], gaps);
    t.like(result, { check: 'import', ...expected });
  });
}

test('a client that ends badly fails, whatever it printed', (t) => {
  const results = judgeRun(stack, '1.1', { ok: false, output: imports, errors: 'no memory' }, [], []);
  t.like(results.at(-1), { check: 'run.sh', outcome: 'failed', why: 'expected it to end well; no memory' });
});

test('a command that does not end is killed with all that it started', async (t) => {
  const script = 'sleep 600 & sleep 600';
  const finished = await run('/bin/sh', ['-c', script], { folder: '.', limitMs: 500 });
  t.false(finished.ok);
  t.regex(finished.errors, /expected an end within 0\.5 s, got none/);
});

test('a command that is not there fails and says so', async (t) => {
  const finished = await run('/nowhere/client', [], { folder: '.', limitMs: 60_000 });
  t.false(finished.ok);
  t.regex(finished.errors, /\/nowhere\/client: .*ENOENT/);
});
