import test from 'ava';
import type { Page } from 'playwright-core';
import { type Console, contract, startConsole } from '../console/operators/console.ts';
import { changeToken, readToken } from '../gateway/admin/admin.ts';
import { axeFindings } from './axe.ts';
import { closeBrowser, isTooWide, type Look, visit, whyNot } from './browser.ts';

const check = whyNot === undefined ? test.serial : test.skip;
if (whyNot !== undefined) test(`no browser: ${whyNot}`, (t) => t.pass());

const ends: (() => unknown)[] = [];
const scope = { teardown: (end: () => unknown) => ends.push(end) };
test.after.always(async () => {
  await closeBrowser();
  for (const end of ends.toReversed()) await end();
});

const looks: readonly Look[] = ([360, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
);

const at = `/${encodeURIComponent(contract)}`;
const operationPath = `${at}/operations/GetOpportunityList`;
/** Text that would run as a script if a page did not escape it. */
const hostile = '<img src=x onerror=trap(1)>';

let started: Promise<Console> | undefined;

/** Returns a console that the tests share. It has a finding. */
function shared(): Promise<Console> {
  started ??= startConsole(scope, {
    migration: {
      record: { sample: '100%' },
      routes: [{ name: 'watch', operations: ['GetOpportunityList'], mode: 'compare' }],
    },
  }).then(async (console) => {
    await console.findings();
    return console;
  });
  return started;
}

async function signIn(page: Page, token = changeToken): Promise<void> {
  await page.getByLabel('Token', { exact: true }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Opens a page as a signed-in user. */
async function open(t: Parameters<typeof visit>[0], path: string, look?: Look, token?: string) {
  const { url } = await shared();
  const { page, faults } = await visit(t, `${url}/sign-in?next=${encodeURIComponent(path)}`, look);
  await signIn(page, token);
  return { page, faults };
}

/** Faults without the lines that Chromium logs about responses with an expected status. */
function unexpected(faults: readonly string[]): readonly string[] {
  return faults.filter((fault) => !/Failed to load resource.* status of 4\d\d/.test(fault));
}

for (const look of looks)
  check(
    `G73: every page at ${look.width} px, ${look.scheme}: axe finds nothing, nothing is too wide`,
    async (t) => {
      const { page, faults } = await open(t, '/', look);
      await page.goto(new URL(`${at}/findings`, page.url()).href);
      const finding = await page.getByRole('link', { name: 'OfferingAgency value' }).getAttribute('href');
      const { text } = await (await shared()).get(`${at}/exchanges`);
      const [, exchange = 'none'] = /id=([^"&]+)/.exec(text) ?? [];
      t.not(exchange, 'none');
      const paths = [
        '/sign-in',
        '/',
        at,
        operationPath,
        `${operationPath}?mode=new&percent=25`,
        `${at}/findings`,
        finding ?? '',
        `${at}/callers`,
        `${at}/deprecations`,
        `${at}/exchanges`,
        `${at}/exchanges?id=${exchange}`,
        '/audit',
        '/nowhere',
      ];
      for (const path of paths) {
        await page.goto(new URL(path, page.url()).href);
        t.deepEqual(await axeFindings(page), [], path);
        t.false(await isTooWide(page), path);
      }
      t.deepEqual(unexpected(faults), []);
    },
  );

check('G70: a wrong token is refused with a remedy, and the field gets the focus', async (t) => {
  const { url } = await shared();
  const { page, faults } = await visit(t, `${url}/`);
  t.is(new URL(page.url()).pathname, '/sign-in');
  await page.getByLabel('Token', { exact: true }).fill('wrong-token');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const outcome = page.getByRole('alert');
  await outcome.getByText('401').waitFor();
  t.regex((await outcome.textContent()) ?? '', /soapbridge admin-token/);
  t.is(await page.evaluate('document.activeElement.id'), 'token');
  t.deepEqual(await axeFindings(page), []);
  t.deepEqual(unexpected(faults), []);
});

check('G73: the keyboard signs in, follows links and signs out', async (t) => {
  const { url } = await shared();
  const { page, faults } = await visit(t, `${url}/`);
  const focusOn = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Tab');
      const focused = await page.evaluate('document.activeElement.textContent || document.activeElement.id');
      if (focused === text) return;
    }
    t.fail(`the Tab key never reaches ${text}`);
  };
  await focusOn('token');
  await page.keyboard.type(changeToken);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await focusOn('Skip to the content');
  await page.keyboard.press('Enter');
  t.is(await page.evaluate('document.activeElement.id'), 'main');
  await focusOn(contract);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: contract, exact: true }).waitFor();
  await focusOn('Sign out');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.goto(`${url}${at}`);
  t.is(new URL(page.url()).pathname, '/sign-in');
  t.deepEqual(unexpected(faults), []);
});

check('G73: a finding is accepted and opened again, and the reason is shown as text', async (t) => {
  const { page, faults } = await open(t, `${at}/findings`);
  await page.getByRole('link', { name: 'OfferingAgency value' }).click();
  t.true((await page.locator('mark').count()) >= 2);
  await page.locator('form#accepted').getByLabel('Reason').fill(hostile);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText(`Explained: ${hostile}`).waitFor();
  await page.getByText('The finding is accepted.').waitFor();
  t.is(await page.getByRole('button', { name: 'Accept' }).count(), 0);
  await page.locator('form#open').getByLabel('Reason').fill('checked again');
  await page.getByRole('button', { name: 'Reopen' }).click();
  await page.getByRole('button', { name: 'Accept' }).waitFor();
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByText(hostile).first().waitFor();
  t.deepEqual(unexpected(faults), []);
});

check('G73: without script, a signed-in user reads the pages and sees the commands', async (t) => {
  const { url } = await shared();
  const { page } = await open(t, '/');
  const [cookie] = await page.context().cookies();
  const browser = page.context().browser();
  const context = await browser?.newContext({ javaScriptEnabled: false });
  t.teardown(() => context?.close());
  await context?.addCookies(cookie === undefined ? [] : [cookie]);
  const plain = await context?.newPage();
  await plain?.goto(`${url}${operationPath}`);
  await plain?.getByLabel('Mode', { exact: true }).selectOption('new');
  await plain?.getByRole('button', { name: 'Show the route before and after' }).click();
  const text = (await plain?.locator('main').textContent()) ?? '';
  t.true(text.includes('compare ("watch")'));
  t.regex(text, /After.*new \("change GetOpportunityList"\)/);
  t.regex(text, /curl -X POST.*"mode":"new"/s);
  t.true(await plain?.getByRole('button', { name: 'Switch GetOpportunityList' }).isDisabled());
});

/** Opens the form that switches the operation to a mode. */
async function choose(page: Page, mode: string): Promise<void> {
  await page.getByLabel('Mode', { exact: true }).selectOption(mode);
  await page.getByRole('button', { name: 'Show the route before and after' }).click();
  await page.getByRole('button', { name: 'Switch GetOpportunityList' }).waitFor();
}

check(
  'G73: the command follows the fields, and a failed switch names the field and the remedy',
  async (t) => {
    const { page, faults } = await open(t, operationPath);
    await choose(page, 'legacy');
    const form = page.locator('form#route');
    await form.getByText('Equivalent command').click();
    await form.getByLabel('Reason').fill("it's");
    t.true((await form.locator('.command code').textContent())?.includes(`"reason":"it'\\''s"`));
    await form.getByLabel('Reason').fill('x');
    await form.getByRole('button').first().click();
    await form.getByText('Correct the marked fields').waitFor();
    t.is(await form.getByLabel('Reason').getAttribute('aria-invalid'), 'true');
    t.is(await page.evaluate('document.activeElement.name'), 'reason');
    t.deepEqual(await axeFindings(page), []);
    t.deepEqual(unexpected(faults), []);
  },
);

check('G67: a switch to new before the verdict is ready needs force, and the page says so', async (t) => {
  const { page } = await open(t, operationPath);
  await choose(page, 'new');
  const form = page.locator('form#route');
  await form.getByLabel('Reason').fill('too early');
  await form.getByRole('button').first().click();
  await form.getByText('NotReady').waitFor();
  t.regex((await form.textContent()) ?? '', /Switch although it is not ready/);
});

check('G66: a switch from an outdated page is refused, and the page says what to do', async (t) => {
  const { url } = await shared();
  const { page } = await open(t, operationPath);
  await choose(page, 'legacy');
  const other = await page.context().newPage();
  await other.goto(`${url}${operationPath}`);
  await choose(other, 'legacy');
  await other.locator('form#route').getByLabel('Reason').fill('first of two');
  await other.getByRole('button', { name: 'Switch GetOpportunityList' }).click();
  await other.getByText('The route has changed').waitFor();
  await page.locator('form#route').getByLabel('Reason').fill('second of two');
  await page.getByRole('button', { name: 'Switch GetOpportunityList' }).click();
  await page.getByText('StaleVersion').waitFor();
  await page.getByText('Load the page again').waitFor();
  await other.locator('form#rollback').getByLabel('Reason').fill('as before');
  await other.getByRole('button', { name: 'Roll back' }).click();
  await other.getByText('Rolled back').waitFor();
  await other.getByText('compare ("watch").').first().waitFor();
  t.is(await other.locator('[aria-current="step"]').textContent(), 'compare');
});

check('G73: a lost session keeps the typed input', async (t) => {
  const { page } = await open(t, operationPath);
  const form = page.locator('form#explain');
  await form.getByLabel('Message').fill('<typed/>');
  await page.context().clearCookies();
  await form.getByRole('button').first().click();
  await form.getByRole('link', { name: 'Sign in again' }).click();
  await signIn(page);
  await page.getByText('The text of this form was kept').waitFor();
  t.is(new URL(page.url()).hash, '#explain');
  t.is(await form.getByLabel('Message').inputValue(), '<typed/>');
  await form.getByRole('button').first().click();
  await form.getByText('unreadable').waitFor();
});

check('G69: a user of role read sees the pages, disabled actions, and a remedy at the audit', async (t) => {
  const { page } = await open(t, operationPath, undefined, readToken);
  t.true(await page.getByRole('button', { name: 'Roll back' }).isDisabled());
  t.true(await page.getByRole('button', { name: 'Explain' }).isEnabled());
  await page.getByRole('link', { name: 'Audit' }).click();
  await page.getByText('sign in with a token of role change').waitFor();
  t.deepEqual(await axeFindings(page), []);
});

check('G65: a caller is exempted and the exemption is ended, after a wrong time was corrected', async (t) => {
  const { page, faults } = await open(t, `${at}/deprecations`);
  const form = page.locator('form#exempt');
  await form.getByLabel('Caller').fill('acme');
  await form.getByLabel('Until').fill('2020-01-01T00:00:00Z');
  await form.getByLabel('Reason').fill('contract until January');
  await form.getByRole('button', { name: 'Exempt' }).click();
  await form.getByText('Correct the fields').waitFor();
  t.is(await form.getByLabel('Until').getAttribute('aria-invalid'), 'true');
  await form.getByLabel('Until').fill('2100-01-01T00:00:00Z');
  await form.getByRole('button', { name: 'Exempt' }).click();
  await page.getByText('is exempt until').waitFor();
  t.deepEqual(await axeFindings(page), []);
  await page.getByRole('button', { name: 'End the exemption' }).click();
  await page.getByText('The exemption has ended').waitFor();
  await page.getByText('No caller is exempt here').waitFor();
  t.deepEqual(unexpected(faults), []);
});

check('G55: a caller is forgotten, after a missing reason was added', async (t) => {
  const { page, faults } = await open(t, `${at}/callers`);
  const form = page.locator('form#forget');
  await form.getByLabel('Caller').fill('somebody');
  await form.getByRole('button', { name: 'Forget' }).click();
  await form.getByText('Correct the marked fields').waitFor();
  t.is(await page.evaluate('document.activeElement.name'), 'reason');
  await form.getByLabel('Reason').fill('asked for');
  await form.getByRole('button', { name: 'Forget' }).click();
  await form.getByText('is deleted').waitFor();
  t.deepEqual(unexpected(faults), []);
});

check('G73: a form without connection to the gateway keeps its text and says what to do', async (t) => {
  const { page } = await open(t, operationPath);
  const form = page.locator('form#explain');
  await form.getByLabel('Message').fill('<typed/>');
  await page.context().setOffline(true);
  await form.getByRole('button').first().click();
  await form.getByText('The gateway did not answer').waitFor();
  t.is(await form.getByLabel('Message').inputValue(), '<typed/>');
});
