import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { createPages } from '../../console/server/pages.ts';
import { type Gateway, startGateway } from '../gateway/gateway.ts';
import { axeFindings } from './axe.ts';
import { closeBrowser, isTooWide, looks, visit, whyNot } from './browser.ts';
import { attacks, hostileDocument, largeDocument } from './documents/attacks.ts';

const check = whyNot === undefined ? test.serial : test.skip;
if (whyNot !== undefined) test(`no browser: ${whyNot}`, (t) => t.pass());

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.push(end) };
test.after.always(async () => {
  await closeBrowser();
  for (const end of ends.toReversed()) await end();
});

/** LARGE_DOCUMENT names a replacement, for example GitHub's document, which has as many operations. */
const large =
  process.env.LARGE_DOCUMENT === undefined
    ? largeDocument(1223)
    : readFileSync(process.env.LARGE_DOCUMENT, 'utf8');

const gateways = new Map<string, Promise<Gateway>>();

/** Returns a gateway with pages that all tests of the file share, for the screening contract or a document. */
function gatewayOf(name: 'screening' | 'hostile' | 'large' | 'adopted' | 'session'): Promise<Gateway> {
  let found = gateways.get(name);
  if (found === undefined) {
    found = startGateway(scope, {
      serve: {
        pages: createPages,
        tryIt: 'show-upstream',
        ...(name === 'screening'
          ? {}
          : name === 'adopted'
            ? { contract: 'test/fixtures/adopt/catalogue' }
            : name === 'session'
              ? { contract: 'test/fixtures/kits/session' }
              : { contract: contractOf(name === 'hostile' ? hostileDocument : large) }),
      },
    });
    gateways.set(name, found);
  }
  return found;
}

/** Creates a folder with a document and an overlay with the base path /v2. */
function contractOf(document: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  scope.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'openapi.json'), document);
  writeFileSync(join(folder, 'soap.yaml'), 'basePath: /v2\n');
  return folder;
}

async function urlOf(name: 'screening' | 'hostile' | 'large', path: string): Promise<string> {
  return `http://127.0.0.1:${(await gatewayOf(name)).port}/v2${path}`;
}

/** Pages of the screening contract. */
const pages = [
  '',
  '/docs',
  '/docs?q=search',
  '/docs/GetSearch',
  '/docs/UpdateSubUser',
  '/docs/-/types/ResponseStatus',
  '/docs/GetSerch',
  '/docs/-/doctor',
  '/docs/-/document?wsdl',
  '/soap11?wsdl',
];

for (const look of looks)
  check(
    `every page at ${look.width} px, ${look.scheme}: axe finds nothing, nothing is too wide, nothing goes wrong`,
    async (t) => {
      for (const path of pages) {
        const { page, faults } = await visit(t, await urlOf('screening', path), look);
        t.deepEqual(await axeFindings(page), [], path);
        t.false(await isTooWide(page), path);
        t.deepEqual(faults, [], path);
      }
    },
  );

for (const look of looks)
  check(`every page of an existing service at ${look.width} px, ${look.scheme}: the same`, async (t) => {
    const { port } = await gatewayOf('adopted');
    for (const path of ['/', '/docs/Find', '/docs/Remove', '/services/Catalogue?wsdl']) {
      const { page, faults } = await visit(t, `http://127.0.0.1:${port}${path}`, look);
      t.deepEqual(await axeFindings(page), [], path);
      t.false(await isTooWide(page), path);
      t.deepEqual(faults, [], path);
    }
  });

for (const look of looks)
  check(
    `the form at ${look.width} px, ${look.scheme}: axe finds nothing, and a call is sent and shown`,
    async (t) => {
      const gateway = await gatewayOf('screening');
      const { page, faults } = await visit(t, await urlOf('screening', '/docs/UpdateSubUser'), look);
      await openForm(page);
      await page.getByLabel('X-Api-User').fill('somebody');
      await page.getByLabel('X-Api-Key').fill('some-secret-key');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByRole('heading', { name: 'What came back' }).waitFor();
      const told = (await page.locator('#try-form').textContent()) ?? '';
      t.true(told.includes('HTTP 200'));
      t.true(told.includes('X-Api-Key: ***'));
      t.false(told.includes('some-secret-key'));
      t.true(told.includes('PUT ') || told.includes('POST '));
      t.true(gateway.hits.some(({ body }) => body.includes('some-secret-key')));
      t.deepEqual(await axeFindings(page), []);
      t.false(await isTooWide(page));
      t.deepEqual(faults, []);
    },
  );

async function openForm(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Open the form|Formular öffnen/ }).click();
  await page.locator('#try-form .cm-content').waitFor();
}

/** Returns the message in the editor. */
function message(page: Page): Promise<string> {
  return page.locator('#try-form .cm-content').innerText();
}

/**
 * Waits until the editor's message satisfies a condition, since the editor follows the form with a delay. Returns its
 * last text.
 */
async function messageOnce(page: Page, isRight: (text: string) => boolean): Promise<string> {
  let text = await message(page);
  for (let waited = 0; waited < 10_000 && !isRight(text); waited += 50) {
    await page.waitForTimeout(50);
    text = await message(page);
  }
  return text;
}

const countOf = (text: string, part: string): number => text.split(part).length - 1;

check('the form tells absent, nil and empty apart, and adds and removes items', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/UpdateSubUser'));
  await openForm(page);
  const strings = async (count: number): Promise<void> => {
    const isRight = (text: string): boolean => countOf(text, '<arr:string>') === count;
    t.is(countOf(await messageOnce(page, isRight), '<arr:string>'), count);
  };
  await strings(1);
  await page.getByRole('button', { name: 'Add string' }).click();
  await strings(2);
  await page.getByRole('button', { name: 'Remove string 2' }).click();
  await strings(1);
  const state = page.locator('[id="f.Request.Permissions-state"]');
  await state.selectOption('nil');
  const nil = '<Permissions i:nil="true"/>';
  t.true((await messageOnce(page, (text) => text.includes(nil))).includes(nil));
  await state.selectOption('absent');
  t.false((await messageOnce(page, (text) => !text.includes('Permissions'))).includes('Permissions'));
  await state.selectOption('given');
  await page.getByLabel('SubUserName', { exact: false }).first().fill('<&">');
  await page
    .locator('#try-form .cm-content', { hasText: '<SubUserName>&lt;&amp;&quot;&gt;</SubUserName>' })
    .waitFor();
  t.deepEqual(faults, []);
});

check(
  'a message that was changed is sent as it stands, marked where it is wrong, and the fault is shown as it came',
  async (t) => {
    const { page, faults } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
    await openForm(page);
    await page.locator('#try-form .cm-content').fill('<a>\n  <b>\n</a>');
    await page.locator('#try-form .cm-lint-marker-error').first().waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'What came back' }).waitFor();
    const told = (await page.locator('#try-form').textContent()) ?? '';
    t.true(told.includes('HTTP 500'));
    t.true(told.includes('faultstring'));
    await page.getByRole('button', { name: 'Back to the form’s message' }).click();
    t.true((await messageOnce(page, (text) => text.includes('<GetSearch'))).includes('<GetSearch'));
    // Chromium itself logs a 500
    t.deepEqual(
      faults.filter((fault) => !fault.includes('status of 500')),
      [],
    );
  },
);

check('the doctor looks at a message that was pasted', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/-/doctor'), {
    width: 390,
    scheme: 'dark',
  });
  await page.getByLabel('Message').fill('<Envelope><Body><GetSerch/></Body></Envelope>');
  await page.getByRole('button', { name: 'Look at it' }).click();
  await page.getByRole('heading', { name: 'The message put right' }).waitFor();
  t.deepEqual(await axeFindings(page), []);
  t.false(await isTooWide(page));
  t.deepEqual(faults, []);
});

check('what is typed in the editor stands there as it was typed, however fast', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await openForm(page);
  await page.getByLabel('Format').selectOption('JSON');
  await page.locator('#try-form .cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('{"request": {"id": 12, "subUserName": "quick brown fox"}}');
  t.is((await message(page)).trim(), '{"request": {"id": 12, "subUserName": "quick brown fox"}}');
  t.deepEqual(faults, []);
});

check('all formats of the form are sent', async (t) => {
  const { page } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await openForm(page);
  await page.getByLabel('X-Api-User').fill('somebody');
  await page.getByLabel('X-Api-Key').fill('some-secret-key');
  for (const format of ['SOAP 1.1', 'SOAP 1.2', 'XML', 'JSON']) {
    await page.getByLabel('Format').selectOption(format);
    const [reply] = await Promise.all([
      page.waitForResponse(
        (response) => response.request().method() === 'POST' && !response.url().endsWith('/upstream'),
      ),
      page.getByRole('button', { name: 'Send' }).click(),
    ]);
    t.is(reply.status(), 200, format);
    t.is(reply.headers()['x-status'], undefined, format);
  }
});

check('the editor completes elements of an existing service, with the prefixes of the message', async (t) => {
  const { port } = await gatewayOf('adopted');
  const { page, faults } = await visit(t, `http://127.0.0.1:${port}/docs/Find`);
  await openForm(page);
  await page.locator('#try-form .cm-content').click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('<n0:Fi');
  await page.keyboard.press('Control+Space');
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'n0:FindRequest' }).waitFor();
  t.deepEqual(faults, []);
});

check('a gateway that is away is told', async (t) => {
  const { page } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await openForm(page);
  await page.context().setOffline(true);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('#try-form .status.bad').waitFor();
  t.regex((await page.locator('#try-form .status.bad').textContent()) ?? '', /^No answer/);
});

check('nothing that was typed is kept in the browser', async (t) => {
  const { page } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await openForm(page);
  await page.getByLabel('X-Api-Key').fill('some-secret-key');
  t.is(await page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length'), 0);
});

check('by keyboard alone: skip to the content, search, open an operation, send', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', ''));
  await page.keyboard.press('Tab');
  t.is(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
  await page.keyboard.press('Enter');
  await tabTo(page, '#q');
  await page.keyboard.type('pdf');
  await page.locator('.results a').first().waitFor();
  await tabTo(page, '.results a');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/GetPdf');
  await tabTo(page, '#try-form button');
  await page.keyboard.press('Enter');
  await page.locator('#try-form .cm-content').waitFor();
  await tabTo(page, '#try-form button[type=submit]');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What came back' }).waitFor();
  t.deepEqual(faults, []);
});

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 400; presses++) {
    const isThere = await page.evaluate(
      `document.activeElement !== null && document.activeElement.matches(${JSON.stringify(selector)})`,
    );
    if (isThere === true) return;
    // CodeMirror needs its own key to leave the editor
    await page.keyboard.press('Tab');
  }
  throw new Error(`expected ${selector} by Tab, got none`);
}

check('copy and download give the sample as it is', async (t) => {
  const { page } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const sample = page.locator('details.sample').first();
  await sample.getByRole('button', { name: 'Copy' }).click();
  await sample.getByRole('button', { name: 'Copied' }).waitFor();
  const code = await sample.locator('code').last().textContent();
  t.is(await page.evaluate('navigator.clipboard.readText()'), code);
  const [download] = await Promise.all([page.waitForEvent('download'), sample.getByRole('link').click()]);
  t.is(download.suggestedFilename(), 'GetSearch.request.soap11.xml');
});

check('pages read well without script', async (t) => {
  const { page } = await visit(t, await urlOf('screening', ''));
  const context = await page.context().browser()?.newContext({ javaScriptEnabled: false });
  if (context === undefined) return t.fail();
  t.teardown(() => context.close());
  const plain = await context.newPage();
  await plain.goto(await urlOf('screening', ''));
  await plain.getByLabel(/Search 12 operations/).fill('pdf');
  await plain.getByRole('button', { name: 'Search' }).click();
  await plain.locator('main').getByRole('link', { name: 'GetPdf' }).click();
  t.is(await plain.locator('h1').textContent(), 'GetPdf');
});

check('German pages are German, by the browser’s language and by the link', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/GetSearch'), undefined, 'de-DE');
  t.is(await page.locator('#request').textContent(), 'Anfrage');
  await page.getByRole('link', { name: 'English' }).click();
  t.is(await page.locator('#request').textContent(), 'Request');
  await page.locator('main').getByRole('link', { name: 'Overview' }).click();
  t.is(await page.locator('#sign-in').textContent(), 'Sign in');
  t.deepEqual(faults, []);
});

check('a document of attacks stays text on every page, at both widths', async (t) => {
  const list = JSON.parse((await (await gatewayOf('hostile')).send('GET', '/docs.json')).text);
  const [operation] = list.operations;
  const types = list.types.map(({ name }: { name: string }) => `/docs/-/types/${encodeURIComponent(name)}`);
  const paths = [
    '',
    '/docs',
    `/docs?tag=${encodeURIComponent(attacks[2])}`,
    `/docs/${operation.name}`,
    '/soap11?wsdl',
    ...types,
  ];
  for (const look of looks.filter(({ scheme }) => scheme === 'light'))
    for (const path of paths) {
      const { page, faults } = await visit(t, await urlOf('hostile', path), look);
      t.deepEqual(faults, [], path);
      t.false(await isTooWide(page), path);
      t.is(
        await page.evaluate(
          'document.querySelectorAll("img, svg, base, main style, main script, iframe").length',
        ),
        0,
        path,
      );
      const links = (await page.evaluate('[...document.links].map(({ href }) => href)')) as string[];
      t.deepEqual(
        links.filter((href) => !/^https?:/.test(href)),
        [],
        path,
      );
      t.deepEqual(await axeFindings(page), [], path);
    }
});

check('the form of a document of attacks shows and sends them as text', async (t) => {
  const list = JSON.parse((await (await gatewayOf('hostile')).send('GET', '/docs.json')).text);
  const { page, faults } = await visit(t, await urlOf('hostile', `/docs/${list.operations[0].name}`), {
    width: 390,
    scheme: 'dark',
  });
  await openForm(page);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { name: 'What came back' }).waitFor();
  t.false(await isTooWide(page));
  t.deepEqual(await axeFindings(page), []);
  t.deepEqual(
    faults.filter((fault) => !fault.startsWith('console: Failed to load resource')),
    [],
  );
});

check(
  '1,223 operations: the first page is small and soon there on a slow phone, and search answers at once',
  async (t) => {
    const { page, faults } = await visit(t, await urlOf('large', ''), { width: 390, scheme: 'light' });
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    // Lighthouse's slow 4G, and a CPU slowed down four times
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: 204_800,
      uploadThroughput: 93_750,
    });
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.reload();
    const sizes = (await page.evaluate(
      '[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")].map(({ transferSize }) => transferSize)',
    )) as number[];
    t.true(sizes.reduce((sum, size) => sum + size, 0) < 100_000, String(sizes));
    const painted = (await page.evaluate(
      'new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntriesByName("first-contentful-paint")[0]?.startTime)).observe({ type: "paint", buffered: true }))',
    )) as number;
    t.log(`first contentful paint on a slow phone: ${Math.round(painted)} ms`);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1,
    });
    const { operations } = JSON.parse((await (await gatewayOf('large')).send('GET', '/docs.json')).text);
    const { name } = operations.at(-1);
    await page.locator('#q').focus();
    await page.keyboard.type(name);
    await page.locator('.results a').first().waitFor();
    // queries from one letter to the whole name
    const words = [1, 2, 4, name.length - 1, name.length].map((length) => name.slice(0, length));
    const took = (await page.evaluate(`(async () => {
    const input = document.querySelector('#q');
    const results = document.querySelector('.results');
    const times = [];
    for (const words of ${JSON.stringify(['', ...words])}) {
      const began = performance.now();
      const shown = new Promise((resolve) => new MutationObserver(resolve).observe(results, { childList: true }));
      input.value = words;
      input.dispatchEvent(new Event('input'));
      await shown;
      times.push(performance.now() - began);
    }
    return times;
  })()`)) as number[];
    t.log(`search in ${operations.length} operations: at most ${Math.round(Math.max(...took))} ms a key`);
    t.true(Math.max(...took) < 50, String(took));
    t.false(await isTooWide(page));
    t.deepEqual(faults, []);
    t.deepEqual(await axeFindings(page), []);
  },
);

check('after a call the reply is in view, has the focus and is indented', async (t) => {
  for (const width of [390, 1280] as const) {
    const { page, faults } = await visit(t, await urlOf('screening', '/docs/GetSearch'), {
      width,
      scheme: 'light',
    });
    await openForm(page);
    await page.getByLabel('X-Api-User').fill('somebody');
    await page.getByLabel('X-Api-Key').fill('some-secret-key');
    for (const format of ['SOAP 1.1', 'JSON']) {
      await page.getByLabel('Format').selectOption(format);
      await page.getByRole('button', { name: 'Send' }).click();
      const heading = page.getByRole('heading', { name: 'What came back' });
      await heading.waitFor();
      await page.locator('#try-form h3:focus', { hasText: 'What came back' }).waitFor();
      const box = await heading.boundingBox();
      t.true(box !== null && box.y >= 0 && box.y < 450, `${format} at ${width}: ${box?.y}`);
      const reply = (await page.getByRole('group', { name: 'What came back' }).textContent()) ?? '';
      t.regex(reply, format === 'JSON' ? /\n {2}"data": \{\n/ : /\n {2}<s:Body>\n/);
    }
    t.deepEqual(faults, []);
  }
});

check('the switch for required members changes the message of every format', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/UpdateSubUser'));
  await openForm(page);
  for (const format of ['SOAP 1.1', 'XML', 'JSON']) {
    await page.getByLabel('Format').selectOption(format);
    const isWhole = (text: string): boolean => /permissions/i.test(text);
    t.true(isWhole(await messageOnce(page, isWhole)), format);
    await page.getByLabel('Required members only').check();
    const isLess = (text: string): boolean => !isWhole(text) && /subUserName/i.test(text);
    t.true(isLess(await messageOnce(page, isLess)), format);
    await page.getByLabel('Required members only').uncheck();
  }
  t.deepEqual(faults, []);
});

check('a credential of a header block is typed once, and goes in the block', async (t) => {
  const gateway = await gatewayOf('session');
  gateway.answer({ body: '{"r":"ok"}' });
  const { page, faults } = await visit(t, `http://127.0.0.1:${gateway.port}/docs/Get`);
  await openForm(page);
  await page.getByLabel('Authorization').fill('s<1');
  for (const format of ['SOAP 1.1', 'XML', 'JSON']) {
    await page.getByLabel('Format').selectOption(format);
    const before = gateway.hits.length;
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('#try-form .status.good').waitFor();
    for (let waited = 0; waited < 5_000 && gateway.hits.length === before; waited += 50)
      await page.waitForTimeout(50);
    t.is(gateway.hits.at(-1)?.headers.authorization, 'Bearer s<1', format);
    t.false(((await page.locator('#try-form').textContent()) ?? '').includes('s<1'));
  }
  t.deepEqual(faults, []);
});

check('credentials are kept in the tab only where the visitor says so', async (t) => {
  const { page, faults } = await visit(t, await urlOf('screening', '/docs/GetSearch'));
  await openForm(page);
  await page.getByLabel('X-Api-Key').fill('some-secret-key');
  await page.getByLabel('Keep the credentials in this tab until it is closed').check();
  await page.goto(await urlOf('screening', '/docs/GetPdf'));
  await openForm(page);
  t.is(await page.getByLabel('X-Api-Key').inputValue(), 'some-secret-key');
  await page.getByLabel('Keep the credentials in this tab until it is closed').uncheck();
  const kept = () => page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length');
  for (let waited = 0; waited < 5_000 && (await kept()) !== 0; waited += 50) await page.waitForTimeout(50);
  t.is(await kept(), 0);
  t.deepEqual(faults, []);
});

check('the side navigation is there on wide screens, and the search everywhere', async (t) => {
  for (const width of [390, 1280] as const) {
    const { page } = await visit(t, await urlOf('screening', '/docs/GetSearch'), { width, scheme: 'light' });
    t.is(await page.locator('nav.index').isVisible(), width === 1280);
    t.is(await page.locator('nav.index a[aria-current=page]').textContent(), 'GetSearch');
    t.true(await page.locator('#q').isVisible());
  }
});

/** Finds words in tables that are broken across lines. */
const brokenWords = `[...document.querySelectorAll('td')].flatMap((cell) => {
  const broken = [];
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
    for (const { index, 0: word } of node.data.matchAll(/[^\\s/-]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  return broken;
})`;

check('no word of a table is broken at 390 px', async (t) => {
  for (const path of ['', '/docs/GetSearch', '/docs/UpdateSubUser']) {
    const { page } = await visit(t, await urlOf('screening', path), { width: 390, scheme: 'light' });
    t.deepEqual(await page.evaluate(brokenWords), [], path);
  }
});
