import test from 'ava';
import { documents, folderOf } from '../documents/documents.ts';
import { exchangesIn } from '../plain/exchange-files.ts';
import { checks, problemOf } from './checks.ts';
import { canonical, exactly, readExact, withoutNulls } from './exact-json.ts';
import { judgeDistrust, judgeRun } from './judge.ts';
import { judgeExchange, unseenLosses } from './judge-exchange.ts';
import { exchangeGaps, knownGaps } from './known-gaps.ts';
import { splitRequests } from './relay.ts';
import { run } from './run-command.ts';
import { loadStacks, type Stack } from './stacks.ts';
import { difference, type Loss, readTree, type Tree } from './tree.ts';

const post = (body: string): string => `POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked = 'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

test('requests of a connection are separated, and a truncated one is dropped', (t) => {
  const sent = ['GET / HTTP/1.1\r\n\r\n', post('one'), chunked, post('two')];
  const bytes = Buffer.from(`${sent.join('')}POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nshort`);
  t.deepEqual(
    splitRequests(bytes).map((request) => request.toString()),
    sent,
  );
});

test('two JSON texts are equal in any order of members and without nulls, digit for digit', (t) => {
  const one = canonical(readExact('{"b":[1.50,9007199254740993],"a":{"y":null,"x":1}}'));
  t.is(one, canonical(readExact('{"a":{"x":1},"b":[1.50,9007199254740993]}')));
  t.not(one, canonical(readExact('{"a":{"x":1},"b":[1.50,9007199254740992]}')));
  t.not(one, canonical(readExact('{"a":{"x":1},"b":[1.5,9007199254740993]}')));
});

test('a text without its nulls keeps its order and its digits', (t) => {
  t.is(withoutNulls('{"b":1.50,"a":{"y":null,"x":[null]}}'), '{"b":1.50,"a":{"x":[null]}}');
});

test('an expected null must be there, another one is allowed', (t) => {
  const expected = { a: { x: null } };
  const like = (got: object): boolean => canonical(got, expected) === exactly(expected);
  t.true(like({ a: { x: null } }));
  t.true(like({ a: { x: null, y: null }, b: null }));
  t.false(like({ a: {} }));
  t.false(like({ a: { x: '' } }));
  t.not(exactly({ a: { x: null, y: null } }), exactly(expected));
});

const dated = { read: { When: '2024-03-01T04:30:00Z', Wall: '2024-03-01T04:30:00', None: null } };

/** A client's output and the expected judgement. */
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
  test(`a client that reads ${JSON.stringify(got)}: ${problem ?? 'no problem'}`, (t) => {
    t.is(problemOf(dated, '1.1', { situation: 'call', got }), problem);
  });
}

test('a double with an exponent is compared by its value', (t) => {
  const small = { read: { Weight: '1.5e-7' } };
  for (const got of ['1.5E-7', '0.00000015', '1.5e-07'])
    t.is(problemOf(small, '1.1', { situation: 'call', got: [got] }), undefined, got);
  for (const got of ['1.5e-8', '0', '', 'NaN', null])
    t.not(problemOf(small, '1.1', { situation: 'call', got: [got] }), undefined, String(got));
});

test('an error is a problem', (t) => {
  t.is(problemOf(dated, '1.1', { situation: 'call', error: 'refused' }), 'expected a reply, got refused');
});

test('the table calls each of the twelve operations', (t) => {
  const calls = checks.filter(({ situation }) => situation === 'call');
  t.is(new Set(calls.map(({ operation }) => operation)).size, 12);
});

/** Returns the paths of a reply's values by JSON names. Items of arrays and maps have their index. */
function placesIn(value: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof value !== 'object' || value === null || 'rawJSON' in value) return [path.join('.')];
  return Object.entries(value).flatMap(([name, inner], index) => {
    const isEntry = path.at(-1) === 'meta';
    return isEntry ? [`${path.join('.')}.${index}`] : placesIn(inner, [...path, name]);
  });
}

/** Returns a path of `read` in JSON's case, without names of items and without Key and Value of maps. */
function placeOf(path: string): string {
  const steps = path
    .split('.')
    .filter((step, index, all) => step !== '?' && !/^(?:\d+|#)$/.test(all[index + 1] ?? ''));
  return steps
    .map((step) => step.toLowerCase())
    .join('.')
    .replace(/(\.meta\.\d+)\.\w+$/, '$1');
}

test('the clients read every value of every reply', (t) => {
  for (const { operation, situation, reply, read } of checks) {
    const places = Object.keys(read).map(placeOf);
    for (const place of placesIn(reply?.data ?? {}))
      t.true(places.includes(place.toLowerCase()), `${operation} ${situation}: ${place}`);
  }
});

test('each known gap is of an existing stack', (t) => {
  const names = loadStacks().map(({ name }) => name);
  for (const { stack } of knownGaps) t.true(names.includes(stack), stack);
});

const stack: Stack = { name: 'a', folder: '.', title: 'A', versions: ['1.1'], probe: 'true', builds: false };
const gap = { stack: 'a', check: 'import', reason: 'it never could' };
const imports = '{"situation":"import","got":[]}';

/** A client's output, the known gaps, and the expected result of the check `import`. */
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
    const [result] = judgeRun({ stack, version: '1.1' }, { ok: true, output, errors: '' }, [], gaps);
    t.like(result, { check: 'import', ...expected });
  });
}

test('a client with a bad exit code fails, whatever it printed', (t) => {
  const results = judgeRun(
    { stack, version: '1.1' },
    { ok: false, output: imports, errors: 'no memory' },
    [],
    [],
  );
  t.like(results.at(-1), { check: 'run.sh', outcome: 'failed', why: 'expected it to end well; no memory' });
});

test('a client that trusts another certificate reads no reply, and its calls reach the upstream', (t) => {
  const call = { operation: 'UpdateValidId', situation: 'call' };
  const judgedBy = (line: object, calls = 1) =>
    judgeDistrust(
      { stack, version: '1.1' },
      { ok: true, output: JSON.stringify({ ...call, ...line }), errors: 'no path' },
      calls,
      [],
    );
  t.like(judgedBy({ error: 'refused' }), { check: 'other certificate', outcome: 'passed' });
  t.like(judgedBy({ got: ['true'] }), {
    outcome: 'failed',
    why: 'expected refused replies, got UpdateValidId',
  });
  t.like(judgedBy({ error: 'refused' }, 0), {
    outcome: 'failed',
    why: 'expected calls upstream, got none; no path',
  });
});

const reply =
  '<r xmlns="urn:r" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><n>1.50</n><a i:nil="true"/><l><s>x</s><s/></l><t>1.0</t><d>2026-01-31T12:00:00+01:00</d></r>';
const whole: Tree = {
  n: [{ is: '1.5' }],
  a: [null],
  l: [{ s: ['x', ''] }],
  t: ['1.0'],
  d: [{ is: '2026-01-31T11:00:00.000Z' }],
};

/** The tree that a client read, losses of its API, and the expected problem. */
const trees: readonly (readonly [Tree, readonly Loss[], string | undefined])[] = [
  [whole, [], undefined],
  [{ ...whole, n: [{ is: '15e-1' }] }, [], undefined],
  [{ ...whole, n: [{ is: '1.51' }] }, [], 'n: expected "1.50", got {"is":"1.51"}'],
  [{ ...whole, n: [{ is: '15' }] }, [], 'n: expected "1.50", got {"is":"15"}'],
  [{ ...whole, t: ['1'] }, [], 't: expected "1.0", got "1"'],
  [{ ...whole, a: [] }, [], 'a: expected [null], got []'],
  [{ ...whole, a: [] }, ['nil is absent'], undefined],
  [{ ...whole, a: [''] }, ['nil is absent'], 'a: expected [], got [""]'],
  [{ ...whole, a: [''] }, ['nil is empty'], undefined],
  [{ ...whole, l: [{ s: ['x'] }] }, [], 'l.s: expected ["x",""], got ["x"]'],
  [{ ...whole, l: [{ s: ['x'] }] }, ['empty is absent'], undefined],
  [{ ...whole, l: [{ s: ['', 'x'] }] }, [], 'l.s.0: expected "x", got ""'],
  [{ ...whole, more: ['x'] }, [], 'more: expected [], got ["x"]'],
  [
    { ...whole, d: [{ is: '2026-01-31T12:00:00Z' }] },
    [],
    'd: expected "2026-01-31T12:00:00+01:00", got {"is":"2026-01-31T12:00:00Z"}',
  ],
  [
    '',
    [],
    ': expected {"n":["1.50"],"a":[null],"l":[{"s":["x",""]}],"t":["1.0"],"d":["2026-01-31T12:00:00+01:00"]}, got ""',
  ],
];

for (const [got, losses, problem] of trees) {
  test(`a reply read as ${JSON.stringify(got)}${losses.map((loss) => `, ${loss}`).join('')}: ${problem ?? 'no problem'}`, (t) => {
    t.is(difference(readTree(reply), got, losses), problem);
  });
}

const judgedExchange = { stack, version: '1.2', document: 'd', exchange: 'e' } as const;
const asked = { name: 'e', request: '', call: undefined, answer: { start: '', headers: {}, body: '' } };
const failed = '<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring></s:Fault>';

/** A line of a client's output, the expected reply, and the expected problem. */
const lines = [
  ['{"name":"e","version":"1.2","got":{"a":["x"]}}', '<r><a>x</a></r>', undefined],
  [
    '{"name":"e","version":"1.1","got":{"a":["x"]}}',
    '<r><a>x</a></r>',
    'expected a reply, got no line of it; end',
  ],
  ['{"name":"e","version":"1.2","error":"refused"}', '<r><a>x</a></r>', 'expected a reply, got refused'],
  [
    '{"name":"e","version":"1.2","fault":{"code":"Sender","message":"no"}}',
    '<r/>',
    'expected a reply, got the fault {"code":"Sender","message":"no"}',
  ],
  ['{"name":"e","version":"1.2","fault":{"code":"Sender","message":"no (request 1-a)"}}', failed, undefined],
  [
    '{"name":"e","version":"1.2","fault":{"code":"Receiver","message":"no"}}',
    failed,
    'code: expected "Sender", got "Receiver"',
  ],
  ['{"name":"e","version":"1.2","got":{}}', failed, 'expected a fault, got {}'],
] as const;

for (const [output, expected, why] of lines) {
  test(`an exchange whose client prints ${output}: ${why ?? 'no problem'}`, (t) => {
    const finished = { ok: true, output, errors: 'end' };
    const made = judgeExchange(judgedExchange, { ...asked, reply: expected }, finished, []);
    t.is(made.outcome, why === undefined ? 'passed' : 'failed');
    t.is(made.why, why);
  });
}

test('an exchange with a known gap is a gap, and fails if it works', (t) => {
  const known = [{ stack: 'a', document: 'd', exchange: 'e', reason: 'it never could' }];
  const judge = (output: string): object =>
    judgeExchange(judgedExchange, { ...asked, reply: '<r/>' }, { ok: true, output, errors: '' }, known);
  t.like(judge('{"name":"e","version":"1.2","error":"no"}'), { outcome: 'gap', why: 'it never could' });
  t.like(judge('{"name":"e","version":"1.2","got":""}'), { outcome: 'failed' });
});

test('a loss that no exchange shows is reported', (t) => {
  const lossy: Stack = { ...stack, losses: ['nil is absent', 'empty is absent'] };
  const finished = { ok: true, output: '{"name":"e","version":"1.2","got":{}}', errors: '' };
  const made = judgeExchange(
    { ...judgedExchange, stack: lossy },
    { ...asked, reply: '<r><a/></r>' },
    finished,
    [],
  );
  t.is(made.outcome, 'passed');
  t.deepEqual(unseenLosses([made]), [
    'a/stack.json: expected an exchange in which "nil is absent" matters, got none',
  ]);
});

test('each known gap of an exchange is of an existing exchange', (t) => {
  const names = loadStacks().map(({ name }) => name);
  for (const gap of exchangeGaps) {
    t.true(names.includes(gap.stack) && documents.includes(gap.document), gap.stack);
    t.true(
      exchangesIn(folderOf(gap.document)).some(({ name }) => name === gap.exchange),
      gap.exchange,
    );
  }
});

test('a command that does not end is killed with all its child processes', async (t) => {
  const script = 'sleep 600 & sleep 600';
  const finished = await run('/bin/sh', ['-c', script], { folder: '.', limitMs: 500 });
  t.false(finished.ok);
  t.regex(finished.errors, /expected an end within 0\.5 s, got none/);
});

test('a missing command fails with a message', async (t) => {
  const finished = await run('/nowhere/client', [], { folder: '.', limitMs: 60_000 });
  t.false(finished.ok);
  t.regex(finished.errors, /\/nowhere\/client: .*ENOENT/);
});
