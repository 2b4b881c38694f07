import type { Operation } from '../../mappings/contract/model.ts';
import { type SearchEntry, searchEntries } from '../search.ts';
import { type Html, html } from './html.ts';
import { contractKits, operationList, tagDocument, tagWords } from './overview.ts';
import { href, operationsOf, type View } from './view.ts';

/** Number of operations per page of the list. */
export const operationsPerPage = 200;

/** Parameters of a list of operations. */
export interface ListQuery {
  /** Search words; empty for all operations. */
  readonly words: string;
  /** A tag; undefined for all tags. */
  readonly tag: string | undefined;
  /** Page number, from 1. */
  readonly page: number;
}

/** Renders a page of the operations of a tag, of a search's results, or of all operations. */
export function listPage(view: View, { words, tag, page }: ListQuery): Html {
  const { site, texts } = view;
  const found = operationsFound(view, words, tag);
  const pages = Math.max(1, Math.ceil(found.length / operationsPerPage));
  const at = Math.min(page, pages);
  const shown = found.slice((at - 1) * operationsPerPage, at * operationsPerPage);
  const query = { ...(words === '' ? {} : { q: words }), ...(tag === undefined ? {} : { tag }) };
  return html`
    <p class="crumbs"><a href=${href(view, '')}>${texts.say('operation.all')}</a></p>
    <h1 dir="auto">${tag ?? (words === '' ? texts.say('overview.operations') : texts.say('list.found', { words }))}</h1>
    <p>${texts.say('list.count', { count: found.length })}</p>
    ${tag !== undefined && site.tags.has(tag) && [tagWords(view, tag), tagDocument(view, tag), contractKits(view, tag)]}
    ${operationList(view, shown)}
    ${
      pages > 1 &&
      html`<nav class="pages" aria-label=${texts.say('list.pages')}>
        ${Array.from({ length: pages }, (_, index) =>
          index + 1 === at
            ? html`<span aria-current="page">${index + 1}</span> `
            : html`<a href=${href(view, site.folder, { ...query, page: String(index + 1) })}>${index + 1}</a> `,
        )}
      </nav>`
    }
  `;
}

/** Returns the operations with a tag that match the search words, the best match first. */
function operationsFound(
  { site }: View,
  words: string,
  tag: string | undefined,
): readonly Pick<Operation, 'name' | 'documentation'>[] {
  const all = operationsOf(site, tag);
  if (words === '') return all;
  const names = new Set(all.map(({ name }) => name));
  return searchEntries(site.entries, words)
    .filter(({ n }) => names.has(n))
    .map(({ n, w }: SearchEntry) => ({ name: n, documentation: w }));
}
