import { type Html, html } from './html.ts';
import { languages } from './texts.ts';
import { href, mostListed, operationHref, titleOf, type View } from './view.ts';

/** Contents of a page. */
export interface PageParts {
  readonly title: string;
  readonly body: Html;
  /** The search query whose results the page shows. */
  readonly query?: string;
  /** Name of the operation that the page describes, for the side navigation. */
  readonly current?: string;
}

/** File names of the pages' script and style sheets. */
export interface AssetNames {
  readonly styles: readonly string[];
  /** Undefined if the script was not built. Pages work without it. */
  readonly script: string | undefined;
}

/** Renders the whole page around its contents. It needs no other host and no inline script or style. */
export function layout(view: View, assets: AssetNames, { title, body, query, current }: PageParts): Html {
  const { texts, site, up } = view;
  const service = titleOf(site);
  const folder = `${up}${site.folder}/-/assets/`;
  return html`<html lang=${texts.language}>
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>${title === service ? title : `${title} · ${service}`}</title>
      <link rel="icon" href=${`${folder}icon.svg`} type="image/svg+xml" />
      ${assets.styles.map((name) => html`<link rel="stylesheet" href=${folder + name} />`)}
      ${assets.script !== undefined && html`<script type="module" src=${folder + assets.script}></script>`}
    </head>
    <body>
      <a class="skip" href="#main">${texts.say('page.skip')}</a>
      <header>
        <a class="service" href=${href(view, '')} dir="auto">${service}</a>
        <nav class="languages" aria-label=${texts.say('page.languages')}>
          ${languages().map(({ language, name }) =>
            language === texts.language
              ? html`<span lang=${language} aria-current="true">${name}</span>`
              : html`<a lang=${language} hreflang=${language} href=${languageHref(view, language)}>${name}</a>`,
          )}
        </nav>
      </header>
      <div class="frame">
        <div class="side">${searchForm(view, query)} ${sideNavigation(view, current)}</div>
        <main id="main" tabindex="-1">${body}</main>
      </div>
    </body>
  </html>`;
}

/**
 * Renders the side navigation for wide screens: the operations by tag, or only the tags if there are many operations.
 */
function sideNavigation(view: View, current: string | undefined): Html {
  const { site, texts } = view;
  const { tags, untagged, contract, folder } = site;
  const link = (name: string): Html =>
    html`<li><a href=${operationHref(view, name)} aria-current=${name === current ? 'page' : undefined}>${name}</a></li>`;
  const isLong = contract.operations.length > mostListed;
  const groups = [...tags].map(([tag, members]) =>
    isLong
      ? html`<li><a href=${href(view, folder, { tag })} dir="auto">${tag}</a> <span>${members.length}</span></li>`
      : html`<li><span class="group" dir="auto">${tag}</span><ul>${members.map(({ name }) => link(name))}</ul></li>`,
  );
  const rest = isLong ? [] : untagged.map(({ name }) => link(name));
  return html`<nav class="index" aria-label=${texts.say('overview.operations')}>
    <a href=${href(view, '')}>${texts.say('operation.all')}</a>
    <ul>${groups}${rest}</ul>
  </nav>`;
}

/** Renders the search form. It works without script; with script, results appear while the user types. */
export function searchForm(view: View, query = ''): Html {
  const { texts, site, up, chosen } = view;
  const folder = `${up}${site.folder}`;
  const language = chosen === undefined ? '' : `?lang=${chosen}`;
  return html`<form
    class="search"
    role="search"
    action=${folder}
    method="get"
    data-index=${`${folder}/-/search.json`}
    data-page=${folder}
    data-language=${language}
    data-texts=${JSON.stringify(texts.below('search.'))}
  >
    <label for="q">${texts.say('search.label', { count: site.contract.operations.length })}</label>
    <div class="row">
      <input id="q" name="q" type="search" autocomplete="off" spellcheck="false" maxlength="200" value=${query} />
      ${chosen !== undefined && html`<input type="hidden" name="lang" value=${chosen} />`}
      <button type="submit">${texts.say('search.button')}</button>
    </div>
    <div class="results" role="region" aria-live="polite" aria-label=${texts.say('search.results')}></div>
  </form>`;
}

/** Renders a table with column headings. On narrow screens each cell is on its own line with its heading. */
export function table(headings: readonly string[], rows: readonly (readonly Html[])[], label: string): Html {
  return html`<div class="scroll" role="group" tabindex="0" aria-label=${label}>
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map(
          (cells) => html`<tr role="row">
            ${cells.map((cell, at) => html`<td role="cell" data-heading=${headings[at]}>${cell}</td>`)}
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Renders one line of code, which wraps and leaves space for the copy button. */
export function codeLine(code: string, label: string): Html {
  return html`<div class="code"><pre class="line-of-code" tabindex="0" role="group" aria-label=${label}><code>${code}</code></pre></div>`;
}

/** Renders an address as code that may only wrap after a slash. */
export function addressCode(text: string): Html {
  const [first = '', ...rest] = text.split('/');
  return html`<code>${first}${rest.map((part) => ['/', html`<wbr />`, part])}</code>`;
}

/** Renders a block of code. The script adds a copy button. */
export function codeBlock(code: string, label: string): Html {
  return html`<div class="code"><pre tabindex="0" role="group" aria-label=${label}><code>${code}</code></pre></div>`;
}

function languageHref({ up, self }: View, language: string): string {
  const [path = '', query = ''] = self.split('?');
  const words = new URLSearchParams(query);
  words.set('lang', language);
  return `${up}${path}?${words}`;
}
