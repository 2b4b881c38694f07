import { existsSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where Debian's package puts it; CHROMIUM says another place. */
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why browser tests can't run here; undefined where they can. */
export const whyNot: string | undefined = existsSync(executablePath)
  ? undefined
  : `${executablePath} is not there: apt-get install chromium, or set CHROMIUM`;

/** How a visit looks at pages. */
export interface Look {
  readonly width: 390 | 1280;
  readonly scheme: 'light' | 'dark';
}

/** Both widths in both schemes. */
export const looks: readonly Look[] = ([390, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((scheme) => ({ width, scheme })),
);

let started: Promise<Browser> | undefined;

/** The browser of this file of tests; it is closed with the process. */
export function browser(): Promise<Browser> {
  started ??= chromium.launch({ executablePath, args: ['--no-sandbox'] });
  return started;
}

/** Closes the browser, where one was started. */
export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
}

/** A visit, which fails its test for an error of the console, a request to another host, and whatever a trap caught. */
export interface Visit {
  readonly page: Page;
  /** What went wrong so far. */
  readonly faults: readonly string[];
}

/** Opens a page of a gateway; the test fails where the visit found a fault. */
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
    // a page that isn't there is one that is looked at on purpose
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
  // a script of a document that runs leaves a trace
  await page.exposeFunction('trap', (what: string) => faults.push(`trap: ${what}`));
  t.teardown(() => context.close());
  await page.goto(url);
  return { page, faults };
}

/** Whether a page is wider than its window. */
export async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
}
