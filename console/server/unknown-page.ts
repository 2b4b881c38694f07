import { nearestNames } from '../search.ts';
import { type Html, html } from './html.ts';
import { href, operationHref, type View } from './view.ts';

/** Renders the page for an unknown operation or type, with similar names. */
export function unknownPage(view: View, wanted: string): Html {
  const { texts, site } = view;
  const names = site.contract.operations.map(({ name }) => name);
  const near = nearestNames(names, wanted, 8);
  return html`
    <h1>${texts.say('unknown.title')}</h1>
    <p dir="auto">${texts.say('unknown.words', { name: wanted.slice(0, 100) })}</p>
    ${
      near.length > 0 &&
      html`<h2>${texts.say('unknown.near')}</h2>
        <ul class="operations">${near.map((name) => html`<li><a href=${operationHref(view, name)}>${name}</a></li>`)}</ul>`
    }
    <p><a href=${href(view, '')}>${texts.say('operation.all')}</a></p>
  `;
}
