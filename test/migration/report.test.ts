import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { XmlDocument, XmlElement } from 'libxml2-wasm';
import { linesOf } from '../../gateway/commands/report-formats.ts';
import { Evidence } from '../../gateway/migration/evidence.ts';
import { type Report, readReport } from '../../gateway/migration/report.ts';
import { writeState } from '../../gateway/migration/state-file.ts';
import type { Comparison, Difference } from '../../mappings/compare/comparison.ts';
import { run } from '../gateway/commands/run.ts';

const day = 24 * 60 * 60 * 1_000;
const begin = Date.UTC(2026, 9, 1);
const equal: Comparison = { result: 'equal', differences: [], explained: [], notes: [], more: 0 };
const price: Difference = {
  path: 'Line[0].Price',
  kind: 'value',
  class: 'rounding',
  legacy: '3.25',
  new: '3.2',
};

/** Values that have a meaning in XML, Markdown, HTML, a terminal or a CI system. */
const hostile =
  '</failure><b>&"\'|`*_[x](http://e.example)\n# h\u001b[31m\u0000\ud800]]>\uffff::set-output::';

function filled(name = 'Name', value = '"A" & <B>'): Evidence {
  const reasons = ['the new service rounds half up'];
  const evidence = new Evidence({ contract: '/shop', maxFindings: 100, reasons, pseudonymOf: undefined });
  const add = (operation: string, comparison: Comparison, at: number, caller = 'acme'): void => {
    const id = `r${(at - begin) / day}`;
    const times = { legacyMs: 12, newMs: 30 };
    evidence.add({
      operation,
      callerKey: caller,
      callerName: caller,
      requestId: id,
      comparison,
      at,
      ...times,
    });
  };
  for (const caller of ['acme', 'initech'])
    for (let call = 0; call < 2; call++) add('GetOrder', equal, begin + call * day, caller);
  add('GetOrder', { ...equal, result: 'explained', explained: [{ ...price, rule: 0 }] }, begin + 2 * day);
  const named: Difference = { path: name, kind: 'value', class: 'other', legacy: value, new: 'x' };
  add('GetOffer', { ...equal, result: 'different', differences: [price, named], more: 3 }, begin + 9 * day);
  add('GetOffer', { ...equal, result: 'different', differences: [price] }, begin + 10 * day);
  add('GetOffer', { ...equal, notes: [{ path: 'Until', note: 'offset' }] }, begin + 10 * day);
  evidence.addNoise('GetOffer', { ...equal, result: 'different', differences: [named] }, begin);
  add('GetStock', equal, begin + 10 * day);
  evidence.unanswered('GetStock', 1);
  return evidence;
}

async function stateOf(t: ExecutionContext, evidence: Evidence): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'soapbridge-report-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const state = join(folder, 'state.json');
  const ready = { calls: 4, callers: 2, days: 7, unanswered: 0.01 };
  const reads = ['GetOrder', 'GetOffer', 'GetStock', 'GetNews'];
  const dated = [
    { reason: 'until the release', until: begin },
    { reason: 'for years', until: begin + 999 * day },
  ];
  const settings = { contract: '/shop', ready, state, maxFindings: 100, reads, dated };
  await writeState(state, settings, evidence.data());
  return state;
}

/** The report ten days after the first call, with a fixed time of the state. */
async function reportOf(t: ExecutionContext, evidence = filled()): Promise<Report> {
  const state = await stateOf(t, evidence);
  return { ...readReport(state, begin + 10 * day), saved: begin + 10 * day };
}

const textReport = `/shop: state of 2026-10-11T00:00:00.000Z
  rule past its date, without effect: until the release
GetOrder: ready
  calls: 5 (required: 4), 4 equal, 1 explained, 0 different
  callers: 2 (required: 2)
  days without an unexplained difference: 10 (required: 7)
  shadow requests without a reply: 0 (at most 1 % of the calls)
  legacy service: p50 12 ms, p99 12 ms
  new service: p50 31 ms, p99 31 ms
  explained: Line[].Price value
    1 time in 1 call of 1 caller, 2026-10-03T00:00:00.000Z, reason: the new service rounds half up
    Line[0].Price: legacy "3.25", new "3.2", rounding, request r2
GetOffer: different
  calls: 3 (required: 4), 1 equal, 0 explained, 2 different
  callers: 1 (required: 2)
  days without an unexplained difference: 0 (required: 7)
  shadow requests without a reply: 0 (at most 1 % of the calls)
  legacy service: p50 12 ms, p99 12 ms
  new service: p50 31 ms, p99 31 ms
  1 call sent twice to the legacy service
  3 differences not listed, because their calls have more than 200
  different: Line[].Price value
    2 times in 2 calls of 1 caller, 2026-10-10T00:00:00.000Z to 2026-10-11T00:00:00.000Z
    Line[0].Price: legacy "3.25", new "3.2", rounding, request r9
    Line[0].Price: legacy "3.25", new "3.2", rounding, request r10
  undecided: Name value
    1 time in 1 call of 1 caller, 2026-10-10T00:00:00.000Z
    Name: legacy "\\"A\\" & <B>", new "x", other, request r9
  note: Until offset
    1 time in 1 call of 1 caller, 2026-10-11T00:00:00.000Z
    Until: request r10
GetStock: collecting, missing: calls, callers, days, unanswered
  calls: 1 (required: 4), 1 equal, 0 explained, 0 different
  callers: 1 (required: 2)
  days without an unexplained difference: 0 (required: 7)
  shadow requests without a reply: 1 (at most 1 % of the calls)
  legacy service: p50 12 ms, p99 12 ms
  new service: p50 31 ms, p99 31 ms
GetNews: none
  calls: 0 (required: 4), 0 equal, 0 explained, 0 different
  shadow requests without a reply: 0`;

test('G50: the text report has verdicts, counts, durations, and findings with examples and reasons', async (t) => {
  t.is(linesOf.text(await reportOf(t)).join('\n'), textReport);
});

test('G45: the report tells a maximum number of callers from an exact one', async (t) => {
  const evidence = filled();
  const call = { operation: 'GetOffer', callerName: undefined, requestId: 'r', at: begin };
  for (let caller = 2; caller <= 32; caller++) {
    evidence.add({ ...call, callerKey: `id ${caller}`, comparison: { ...equal, differences: [price] } });
    const [, offer] = (await reportOf(t, evidence)).operations;
    const text = linesOf.text({
      ...(await reportOf(t, evidence)),
      operations: offer === undefined ? [] : [offer],
    });
    t.is(
      text.some((line) => line.includes(`of ${caller} callers`)),
      caller < 32,
    );
    t.is(
      text.some((line) => line.includes('of 32 or more callers')),
      caller === 32,
    );
  }
});

test('G50: the Markdown report escapes characters with a meaning in Markdown or HTML', async (t) => {
  const plain = linesOf.markdown(await reportOf(t)).join('\n');
  t.true(
    plain.includes(
      '\n| GetStock | collecting, missing\\: calls, callers, days, unanswered | 1 | 1 | 0 | 0 | 1 |\n',
    ),
  );
  t.true(plain.includes('\n### different: Line\\[\\]\\.Price value\n'));
  const lines = linesOf.markdown(await reportOf(t, filled(hostile, hostile)));
  const [example = ''] = lines.filter(
    (line) => line.includes('::set'.replaceAll(':', '\\:')) && line.startsWith('- '),
  );
  t.true(example.length > 100);
  const rest = example
    .slice(2)
    .replace(/\\[!-/:-@[-`{-~]/g, '')
    .replace(/&(?:amp|lt|gt);/g, '');
  t.notRegex(rest, /[\\`*_{}[\]()#+\-.!|~:@$^='"&<>\p{Cc}]/u);
});

/** Returns the test cases of a report by name, each with the name and the message of its result. */
function casesOf(
  report: Report,
): ReadonlyMap<string, readonly [result: string, message: string, text: string]> {
  const document = XmlDocument.fromBuffer(Buffer.from(linesOf.junit(report).join('\n')));
  try {
    const { root } = document;
    const number = (name: string): number => Number(root.attr(name)?.value);
    const cases = root.find('testcase').filter((one) => one instanceof XmlElement);
    if (number('tests') !== cases.length) throw new Error('expected the number of test cases');
    if (number('failures') !== root.find('testcase/failure').length) throw new Error('expected failures');
    if (number('skipped') !== root.find('testcase/skipped').length) throw new Error('expected skipped');
    return new Map(
      cases.map((one) => {
        const result = one.get('*');
        const message = result instanceof XmlElement ? (result.attr('message')?.value ?? '') : '';
        const [name, text] = result instanceof XmlElement ? [result.name, result.content] : ['', ''];
        return [one.attr('name')?.value ?? '', [name, message, text]];
      }),
    );
  } finally {
    document.dispose();
  }
}

test('G50: the JUnit report has a test case per operation', async (t) => {
  const cases = casesOf(await reportOf(t));
  t.deepEqual([...cases.keys()], ['GetOrder', 'GetOffer', 'GetStock', 'GetNews']);
  t.is(cases.get('GetOrder')?.[0], '');
  t.is(cases.get('GetOffer')?.[0], 'failure');
  t.true(cases.get('GetOffer')?.[2].includes('legacy "\\"A\\" & <B>", new "x"'));
  t.deepEqual(cases.get('GetStock')?.slice(0, 2), [
    'skipped',
    'collecting, missing: calls, callers, days, unanswered',
  ]);
  t.deepEqual(cases.get('GetNews')?.slice(0, 2), ['skipped', 'none']);
});

test('G50: the JUnit report is well-formed XML for each value of a message', async (t) => {
  const [, , text = ''] = casesOf(await reportOf(t, filled(hostile, hostile))).get('GetOffer') ?? [];
  t.true(text.includes('</failure><b>&'));
  t.true(text.includes('\\u001b[31m\\u0000'));
});

test('G50: `report` prints a state file and sets the exit code', async (t) => {
  const state = await stateOf(t, filled());
  const report = async (...args: readonly string[]) => run(t, ['report', '--state', state, ...args]).ended;
  const whole = await report();
  t.is(whole.code, 0);
  t.is(whole.err, '');
  t.regex(whole.out, /^\/shop: state of .*\n.*until the release\nGetOrder: ready\n/);
  const json = await report('--format', 'json', '--operation', 'GetOrder', '--require', 'ready');
  t.is(json.code, 0);
  t.like(JSON.parse(json.out), { contract: '/shop', ready: { calls: 4 }, expired: ['until the release'] });
  t.like(JSON.parse(json.out).operations, [{ operation: 'GetOrder', verdict: 'ready', legacy: { p50: 12 } }]);
  t.is(JSON.parse(json.out).operations.length, 1);
  const both = await report('--operation', 'GetNews', '--operation', 'GetOrder', '--require', 'ready');
  t.is(both.code, 1);
  t.regex(both.out, /GetOrder: ready[\s\S]*GetNews: none/);
  t.is((await report('--require', 'ready', '--format', 'junit')).code, 1);
});

test('G50: `report` ends with 2 for invalid input', async (t) => {
  const state = await stateOf(t, filled());
  const failed = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await run(t, ['report', ...args]).ended;
    t.is(code, 2);
    t.is(out, '');
    return err;
  };
  t.regex(await failed(), /--state/);
  t.regex(await failed('--state', state, '--format', 'html'), /--format/);
  t.regex(await failed('--state', state, '--require', 'none'), /--require/);
  t.is(
    await failed('--state', state, '--operation', 'GetOrders'),
    '--operation: expected a compared operation, got GetOrders. Did you mean GetOrder?\n',
  );
  t.is(
    await failed('--state', `${state}x`),
    `${state}x: expected a migration state, got no file or an empty one\n`,
  );
  writeFileSync(state, readFileSync(state, 'utf8').slice(0, -9));
  t.is(await failed('--state', state), `${state}: expected a migration state, got a file that is not JSON\n`);
});
