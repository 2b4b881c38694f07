import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary: string }[];
}

/** Returns axe's findings for a page as `rule: element: why`, for WCAG 2.2 A and AA and best practices. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
  // injected through the debugger's protocol, which the page's policy does not restrict
  await page.evaluate(source);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: readonly Finding[] };
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${JSON.stringify(target)}: ${failureSummary}`),
  );
}
