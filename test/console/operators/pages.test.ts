import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { maxUsageRows } from '../../../console/operators/callers.ts';
import { createOperatorPages } from '../../../console/operators/pages.ts';
import { samplesOf, sumOf } from '../../../console/operators/visit.ts';
import type { AdminRequest } from '../../../gateway/admin/route.ts';
import { routes } from '../../../gateway/admin/routes.ts';
import type { AdminState } from '../../../gateway/process/admin.ts';
import { ask, readToken } from '../../gateway/admin/admin.ts';
import { contract, startConsole } from './console.ts';

const at = `/${encodeURIComponent(contract)}`;
const operationPath = `${at}/operations/GetOpportunityList`;
/** Text that would run as a script if a page did not escape it. */
const hostile = '<script>trap(1)</script>"<b>';
/** Value of a message. The gateway replaces values with tags by pseudonyms. */
const value = '"& < b';

const ends: (() => unknown)[] = [];
test.after.always(async () => {
  for (const end of ends.toReversed()) await end();
});

/** A console with a finding whose value has characters with a meaning in HTML. */
const console = startConsole(
  { teardown: (end) => ends.push(end as () => unknown) },
  {
    migration: { routes: [{ name: 'watch', operations: ['GetOpportunityList'], mode: 'compare' }] },
    values: [['Road Desk   ', value.replaceAll('&', '&amp;')]],
  },
).then(async (started) => {
  await started.findings();
  const now = Date.now();
  started.store(
    'INSERT INTO usage_days VALUES (?, ?, ?, ?, ?, ?, 7, 1, 0, 0, 0, 0, ?)',
    ...[contract, 'GetOpportunityList', hostile, now - (now % 86_400_000), 'soap11', 'legacy', now],
  );
  started.store(
    'INSERT INTO callers VALUES (?, ?, NULL, ?, NULL, ?, ?, ?)',
    ...[contract, hostile, hostile, 'CXF', now, now],
  );
  return started;
});

/** Returns the address of the finding. */
async function findingPath(): Promise<string> {
  const { text } = await (await console).get(`${at}/findings`);
  const [, path = ''] = /href="([^"]+)">OpportunityDetails\[\]\.OfferingAgency value</.exec(text) ?? [];
  return path.replaceAll('&amp;', '&');
}

test('G73: each page is complete HTML without inline script or style, under the policy of G70', async (t) => {
  const { get } = await console;
  const pages: readonly [path: string, ...texts: RegExp[]][] = [
    ['/sign-in', /<label for="token">/],
    ['/', /\/%2Fagency/, /1 different/, /healthy/, /reachable/],
    [at, /GetOpportunityList/, /compare \(&quot;watch&quot;\)/, />different</],
    [operationPath, /aria-current="step">compare</, /curl -X POST/, /Version 0/],
    [
      `${operationPath}?mode=new&percent=25`,
      /Before/,
      /among 25 % of the callers/,
      /&quot;ifVersion&quot;:0/,
    ],
    [`${at}/operations/NotifyArrival`, /a write is never compared/],
    [`${at}/findings`, /\d+ in \d+ of \d+ calls/],
    [await findingPath(), /<mark>/, /map:/, /Mark as fixed/],
    [`${at}/callers`, /GetOpportunityList/, /CXF/, /legacy 7/, /Export as JSON/, /Forget/],
    [`${at}/callers?caller=${encodeURIComponent(hostile)}`, /User-Agent/, /&lt;script>trap/],
    [`${at}/deprecations`, /No operation is deprecated/, /Exempt a caller/],
    ['/audit', /No entries yet|sign-in/],
  ];
  for (const [path, ...texts] of pages) {
    const { status, headers, text } = await get(path);
    t.is(status, 200, path);
    t.is(headers['content-type'], 'text/html; charset=utf-8');
    t.regex(
      String(headers['content-security-policy']),
      /default-src 'none'; script-src 'self'.*frame-ancestors 'none'/,
    );
    t.is(headers['cache-control'], 'no-store');
    t.regex(text, /^<!doctype html><html lang="en">.*<h1/s);
    t.notRegex(text, /<script(?! type="module" src="\/console-assets\/)|<style| style=| on\w+=/, path);
    for (const part of texts) t.regex(text, part, path);
  }
});

test('G73: values of messages are escaped', async (t) => {
  const { get } = await console;
  const { text } = await get(await findingPath());
  t.true(text.includes('<mark>&quot;&amp; &lt; b</mark>'));
});

test('G73: names in the address are escaped in the page of the error', async (t) => {
  const { get } = await console;
  for (const path of [
    `/${encodeURIComponent(hostile)}`,
    `${at}/operations/${encodeURIComponent(hostile)}`,
    `${at}/findings?id=${encodeURIComponent(hostile)}`,
  ]) {
    const { status, text } = await get(path);
    t.is(status, 404, path);
    t.regex(text, /<h1>Error 404<\/h1>.*Check the address/s);
    t.false(text.includes('<script>trap'));
  }
});

test('G73: a visitor without a session is sent to the sign-in, and a program gets a problem', async (t) => {
  const { url } = await console;
  for (const path of ['/', `${operationPath}?mode=new`, '/audit', '/nowhere/at/all']) {
    const { status, headers } = await ask(url, path);
    t.is(status, 303, path);
    t.is(headers.location, `/sign-in?next=${encodeURIComponent(path)}`);
  }
  const { status, headers } = await ask(url, '/api/v1/contracts');
  t.is(status, 401);
  t.is(headers['content-type'], 'application/problem+json');
});

test('G69: a token of role read gets the pages, but the audit refuses with a remedy', async (t) => {
  const { get } = await console;
  const { text } = await get(`${operationPath}?mode=legacy`, { token: readToken });
  t.regex(text, /This needs a token of role change/);
  const refused = await get('/audit', { token: readToken });
  t.is(refused.status, 403);
  t.regex(refused.text, /sign in with a token of role change/);
});

test('G73: a route that is not possible is an error with the text of the API', async (t) => {
  const { get } = await console;
  const { status, text } = await get(`${at}/operations/NotifyArrival?mode=compare`);
  t.is(status, 422);
  t.regex(text, /expected legacy or new for NotifyArrival, a write, got compare/);
});

test('G73: without a store, the pages say what is missing', async (t) => {
  const { get } = await startConsole(t, { store: undefined });
  const page = await get(at);
  t.is(page.status, 200);
  t.regex(page.text, /Routes cannot be changed: .*store/);
  t.regex(page.text, /Verdicts are not available/);
  t.regex((await get('/')).text, /No store is configured/);
});

test('G56, G57: recorded exchanges are shown as stored, for the role change', async (t) => {
  const { get, call } = await startConsole(t, {
    migration: {
      routes: [{ name: 'watch', operations: ['GetOpportunityList'], mode: 'compare' }],
      record: { sample: '100%' },
    },
  });
  let list = await get(`${at}/exchanges`);
  for (; !list.text.includes('watch'); list = await get(`${at}/exchanges`)) {
    await call('opportunities');
    await pause(500);
  }
  t.regex(list.text, /GetOpportunityList.*compare \(“watch”\).*200, \d+ ms, \d+ bytes/s);
  const [, path = ''] = /href="([^"]+exchanges\?id=[^"]+)"/.exec(list.text) ?? [];
  const { status, text } = await get(path);
  t.is(status, 200);
  t.regex(text, /&lt;GetOpportunityListRequest.*<h2>Legacy<\/h2>.*OfferingAgency.*<h2>New<\/h2>/s);
  t.regex((await get(`${at}/exchanges?operation=NotifyArrival`)).text, /No recorded exchanges/);
  t.is((await get(`${at}/exchanges`, { token: readToken })).status, 403);
});

test('G57, G64: every page warns about recordings without redaction; sunsets are shown', async (t) => {
  const { get } = await startConsole(t, {
    migration: {
      record: { redact: 'none', sample: '50%' },
      deprecate: [
        {
          operations: ['NotifyArrival'],
          since: '2026-01-01T00:00:00Z',
          sunset: '2100-01-01T00:00:00Z',
          link: 'https://docs.example/moves',
        },
      ],
    },
  });
  const pages = ['/', at, operationPath, `${at}/findings`, `${at}/callers`, `${at}/deprecations`, '/audit'];
  for (const path of ['/sign-in', ...pages, '/nowhere'])
    t.regex((await get(path)).text, /Warning:.*redact: none/, path);
  t.regex((await get('/')).text, /redact none/);
  const { text } = await get(`${at}/deprecations`);
  t.regex(text, /<h2>NotifyArrival<\/h2>.*2100-01-01T00:00:00Z/s);
  t.regex(text, /href="https:\/\/docs.example\/moves"/);
});

test('G73: styles, script and icon are served, other names are not', async (t) => {
  const { get, url } = await console;
  const { text } = await get('/sign-in');
  const files = [...text.matchAll(/(?:href|src)="(\/console-assets\/[^"]+)"/g)].map(([, path = '']) => path);
  t.true(files.length >= 3);
  for (const path of files) t.is((await ask(url, path)).status, 200, path);
  t.is((await ask(url, '/console-assets/package.json')).status, 404);
});

test('G73: a page needs the role of the calls that it shows', (t) => {
  const pages = createOperatorPages().routes(routes);
  const changing = pages.filter(({ access }) => access === 'change').map(({ path }) => path);
  t.deepEqual(changing, ['/audit', '/:c/exchanges']);
  for (const path of changing) {
    const call = routes.find((route) => route.method === 'GET' && route.path.endsWith(path));
    t.is(call?.access, 'change', path);
  }
});

test(`G73: a page of callers has ${maxUsageRows} rows of a list, which it reads once`, async (t) => {
  const item = { operation: 'GetOrder', stack: 'CXF', calls: 1, faults: 0, sides: {}, bindings: {} };
  const pageOf = async (rows: number, from: string): Promise<string> => {
    let reads = 0;
    const list = async () => {
      reads++;
      const at = '2026-01-01T00:00:00Z';
      return Array.from({ length: rows }, (_, index) => ({ ...item, caller: `caller${index}`, lastAt: at }));
    };
    const api = routes.map((route) => (route.path.endsWith('/usage') ? { ...route, list } : route));
    const page = createOperatorPages()
      .routes(api)
      .find(({ path }) => path === '/:c/callers');
    const request = { query: { from }, params: { c: contract }, actor: { role: 'read' }, authenticator: {} };
    const state = { settings: () => [] } as unknown as AdminState;
    const reply = await page?.answer(request as unknown as AdminRequest, state);
    t.is(reads, 1);
    return JSON.stringify(reply);
  };
  for (const [rows, from, shown, hasNext] of [
    [maxUsageRows, '', maxUsageRows, false],
    [maxUsageRows + 1, '', maxUsageRows, true],
    [maxUsageRows + 1, String(maxUsageRows), 1, false],
    [1, 'x', 1, false],
  ] as const) {
    const text = await pageOf(rows, from);
    t.is(text.match(/caller\d+<\/a>/g)?.length, shown);
    t.is(text.includes(`from=${maxUsageRows}`), hasNext);
  }
});

test('G73: samples of metrics have their labels, with escaped characters', (t) => {
  const family = { help: '', together: 'sum' } as const;
  const samples = samplesOf([
    {
      ...family,
      name: 'x',
      type: 'counter',
      samples: [
        { name: 'x', labels: 'a="1",b="q\\"\\\\,}"', value: 2 },
        { name: 'x', labels: 'a="1",b="c"', value: 3 },
        { name: 'x', labels: '', value: 4 },
      ],
    },
    { ...family, name: 'z', type: 'histogram', samples: [{ name: 'z_bucket', labels: 'le="1"', value: 5 }] },
  ]);
  t.is(samples.length, 3);
  t.is(samples[0]?.labels.get('b'), 'q"\\,}');
  t.is(
    sumOf(samples, 'x', (labels) => labels.get('a') === '1'),
    5,
  );
});
