import { type Html, html } from '../server/html.ts';
import { href } from './links.ts';
import type { PageParts } from './visit.ts';

/** Parts of a page around its contents. */
export interface Frame {
  /** Undefined before the sign-in. */
  readonly viewer: { readonly name: string; readonly role: string } | undefined;
  /** `''` for a page about all contracts. */
  readonly contract: string;
  /** Path of the page in the form of koa-router, for the navigation. */
  readonly path: string;
  readonly warnings: readonly string[];
  readonly styles: readonly string[];
  /** Undefined if the script was not built. */
  readonly script: string | undefined;
}

/** Pages of a contract, in the order of the navigation. */
const contractPages = [
  ['/:c', 'Operations'],
  ['/:c/findings', 'Findings'],
  ['/:c/exchanges', 'Exchanges'],
  ['/:c/callers', 'Callers'],
  ['/:c/deprecations', 'Deprecations'],
] as const;

/** Folder of the style sheets and scripts. */
export const assetFolder = '/console-assets/';

/** Renders the whole page around its contents. It needs no other host and no inline script or style. */
export function layout(frame: Frame, { title, body }: PageParts): Html {
  const { viewer, contract, path, warnings, styles, script } = frame;
  const link = (to: string, label: string, target = href(to, contract)): Html =>
    html`<li><a href=${target} aria-current=${to === path ? 'page' : undefined}>${label}</a></li>`;
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title} · soapbridge console</title>
      <link rel="icon" href=${`${assetFolder}icon.svg`} type="image/svg+xml" />
      ${styles.map((name) => html`<link rel="stylesheet" href=${assetFolder + name} />`)}
      ${script !== undefined && html`<script type="module" src=${assetFolder + script}></script>`}
    </head>
    <body>
      <a class="skip" href="#main">Skip to the content</a>
      <header>
        <a class="service" href="/">soapbridge console</a>
        ${
          viewer !== undefined &&
          html`<nav aria-label="Gateway"><ul class="menu">${link('/', 'Contracts', '/')}${link('/audit', 'Audit', '/audit')}</ul></nav>
            <span class="viewer"><span>${viewer.name} (${viewer.role})</span>
            <button type="button" id="sign-out" hidden>Sign out</button></span>`
        }
      </header>
      ${
        viewer !== undefined &&
        contract !== '' &&
        html`<nav class="contract" aria-label="Contract">
          <strong dir="auto">${contract}</strong>
          <ul class="menu">${contractPages.map(([to, label]) => link(to, label))}</ul>
        </nav>`
      }
      <main id="main" tabindex="-1">
        ${warnings.map((text) => html`<p class="warning"><strong>Warning:</strong> ${text}</p>`)}
        <p id="notice" class="status good" role="status"></p>
        ${body}
      </main>
    </body>
  </html>`;
}

/** Renders names with their values. An undefined value is not shown. */
export function figures(all: Readonly<Record<string, Html | undefined>>): Html {
  const shown = Object.entries(all).filter(([, value]) => value !== undefined);
  return html`<dl class="figures">
    ${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

/** Renders why a part of a page is missing. */
export function warning(text: string, why: string | null | undefined): Html {
  return typeof why === 'string' && html`<p class="warning">${text}: ${why}</p>`;
}
