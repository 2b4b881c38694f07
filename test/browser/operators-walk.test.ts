import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { clone, readPage, run, serve, stepsOf } from '../docs/page.ts';
import { send } from '../gateway/gateway.ts';
import { closeBrowser, visit, whyNot } from './browser.ts';

const check = whyNot === undefined ? test.serial : test.skip;
if (whyNot !== undefined) test(`no browser: ${whyNot}`, (t) => t.pass());
test.after.always(closeBrowser);

/** Returns a port that is free now. The page of the console has no other address. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const page = readPage('console-operators.md');

/** Presses a button that the page names. */
async function press(browser: Page, name: string): Promise<void> {
  if (!page.includes(`**${name}**`))
    throw new Error(`docs/console-operators.md: expected the button ${name}`);
  await browser.getByRole('button', { name, exact: true }).click();
}

check('G73: the walk of docs/console-operators.md works, with the console only', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'walk-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  cpSync('examples', join(folder, 'examples'), { recursive: true });
  const place = { ...clone, folder, environment: { LEGACY_PORT: '0', NEW_PORT: '0' } };
  const [, walk = ''] = page.split('\n## Walk');
  const [legacy = '', fresh = '', token = '', key = '', start = ''] = stepsOf(walk).map(
    ({ command }) => command,
  );
  const admin = String(await freePort());
  const ports = [
    ['9091', (await serve(t, legacy, place)).port],
    ['9092', (await serve(t, fresh, place)).port],
    ['9090', admin],
  ] as const;
  const file = join(folder, 'examples/migration/5-console.yaml');
  const settings = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    ports.reduce((text, [from, to]) => text.replaceAll(`127.0.0.1:${from}`, `127.0.0.1:${to}`), settings),
  );
  t.is((await run(t, token, place)).code, 0);
  t.is((await run(t, key, place)).code, 0);
  const gateway = await serve(t, start, place);
  const began = performance.now();

  const { page: browser, faults } = await visit(t, `http://127.0.0.1:${admin}/`);
  const [, secret = ''] = readFileSync(join(folder, 'examples/migration/token.txt'), 'utf8').split('\n');
  await browser.getByLabel('Token', { exact: true }).fill(secret);
  await browser.getByRole('button', { name: 'Sign in' }).click();
  await browser.getByRole('link', { name: '/', exact: true }).click();
  await browser.getByRole('link', { name: 'GetOpportunityList' }).click();
  const step = browser.locator('[aria-current="step"]');
  t.is(await step.textContent(), 'legacy');
  await browser.getByLabel('Mode', { exact: true }).selectOption('compare');
  await press(browser, 'Show the route before and after');
  await browser
    .getByText('compare ("change GetOpportunityList"), else legacy.')
    .or(browser.getByText('compare ("change GetOpportunityList").'))
    .first()
    .waitFor();
  await browser.locator('form#route').getByLabel('Reason').fill('step 1 of the migration');
  await press(browser, 'Switch GetOpportunityList');
  await browser.getByText('Version 1 is in use').waitFor();
  t.is(await step.textContent(), 'compare');

  const message = readFileSync('examples/migration/opportunities.xml', 'utf8');
  const type = { 'Content-Type': 'text/xml; charset=utf-8' };
  for (let calls = 0; calls < 3; calls++)
    t.is(
      (await send(Number(gateway.port), 'POST', '/agency/services/v2/AgencyPort', type, message)).status,
      200,
    );

  const finding = browser.getByRole('link', { name: 'OpportunityDetails[].OfferingAgency value' });
  while ((await finding.count()) === 0) {
    await browser.waitForTimeout(500);
    await browser.reload();
  }
  t.true((await browser.locator('#figures').textContent())?.includes('different'));
  await finding.click();
  t.is(await browser.locator('mark').first().textContent(), '  ');
  const rule = (await browser.getByRole('group', { name: 'Suggested rule' }).textContent()) ?? '';
  for (const line of rule.trim().split('\n')) t.true(walk.includes(line), line);
  await browser.locator('form#accepted').getByLabel('Reason').fill('the legacy database pads names');
  await press(browser, 'Accept');
  await browser.getByText('The finding is accepted.').waitFor();

  await browser.getByRole('link', { name: 'GetOpportunityList' }).first().click();
  await browser.locator('form#explain').getByLabel('Message').fill(message);
  await press(browser, 'Explain');
  await browser.getByText('GetOpportunityList: compare, by the rule').waitFor();
  t.is(await browser.getByLabel('Version to restore').inputValue(), '0');
  await browser.locator('form#rollback').getByLabel('Reason').fill('the names differ');
  await press(browser, 'Roll back');
  await browser.getByText('Rolled back').waitFor();
  t.is(await step.textContent(), 'legacy');

  await browser.getByRole('link', { name: 'Audit' }).click();
  for (const text of [
    'sign-in',
    'step 1 of the migration',
    'the legacy database pads names',
    'the names differ',
  ])
    await browser.getByText(text).first().waitFor();
  t.deepEqual(faults, []);
  t.log(`the walk took ${Math.round((performance.now() - began) / 1_000)} s without a person`);
});
