import { existsSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Path of Debian's package. The variable CHROMIUM overrides it. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Reason why browser tests cannot run, or undefined if they can. */
export const whyNot: string | undefined = existsSync(executablePath)
  ? undefined
  : `${executablePath} is not there: apt-get install chromium, or set CHROMIUM`;

/** Window width and colour scheme of a visit. */
export interface Look {
  readonly width: 360 | 390 | 1280;
  readonly scheme: 'light' | 'dark';
}

/** Both widths in both colour schemes. */
export const looks: readonly Look[] = ([390, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
);

let started: Promise<Browser> | undefined;

/** Returns the browser shared by a test file. */
export function browser(): Promise<Browser> {
  started ??= chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return started;
}

/** Closes the browser if it was started. */
export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
}

/** A visit. It fails the test after a console error, a request to another host, or a call of the trap. */
export interface Visit {
  readonly page: Page;
  /** Faults found so far. */
  readonly faults: readonly string[];
}

/** Opens a page of a gateway. The test fails if the visit has faults. */
export async function visit(
  t: Pick<ExecutionContext, 'teardown' | 'deepEqual'>,
  url: string,
  { width, scheme }: Look = { width: 1280, scheme: 'light' },
  language = 'en',
): Promise<Visit> {
  const context = await (await browser()).newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    locale: language,
    acceptDownloads: true,
  });
  const page = await context.newPage();
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    // a 404 page may be opened on purpose
    const isStatus = message
      .text()
      .startsWith('Failed to load resource: the server responded with a status of 404');
    if (['error', 'warning'].includes(message.type()) && !isStatus) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const of = request.url();
    if (!of.startsWith(`${origin}/`) && !of.startsWith('data:') && !of.startsWith('blob:'))
      faults.push(`request to ${of}`);
  });
  // a script of a document that runs calls the trap
  await page.exposeFunction('trap', (what: string) => faults.push(`trap: ${what}`));
  t.teardown(() => context.close());
  await page.goto(url);
  return { page, faults };
}

/** Returns true if a page is wider than its window. */
export async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
}
