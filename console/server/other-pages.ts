import type { NamedType, Operation } from '../../mappings/contract/model.ts';
import { nearestNames, type SearchEntry, searchEntries } from '../search.ts';
import { type Html, html } from './html.ts';
import { codeLine } from './layout.ts';
import { contractKits, importLines, operationList, tagDocument, tagWords } from './overview.ts';
import { prose } from './prose.ts';
import { typeTree } from './tree.ts';
import { href, operationHref, operationsOf, type View } from './view.ts';

/** Number of operations per page of the list. */
const pageLength = 200;

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
  const pages = Math.max(1, Math.ceil(found.length / pageLength));
  const at = Math.min(page, pages);
  const shown = found.slice((at - 1) * pageLength, at * pageLength);
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

/** Renders a type with its members. */
export function typePage(view: View, type: NamedType): Html {
  const { texts } = view;
  return html`
    <p class="crumbs"><a href=${href(view, '')}>${texts.say('operation.all')}</a></p>
    <h1>${type.name}</h1>
    ${prose('documentation' in type ? type.documentation : '')}
    <h2 id="members">${texts.say('type.members')}</h2>
    ${typeTree(view, type)}
  `;
}

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

/**
 * Renders the page that a browser gets instead of a WSDL or a schema, with links to the raw file and to other pages.
 */
export function documentPage(
  view: View,
  document: { readonly name: string; readonly raw: string; readonly link: string },
): Html {
  const { texts, site } = view;
  const { contract } = site;
  return html`
    <h1>${texts.say('document.title', { name: document.name, service: contract.service })}</h1>
    <p>${texts.say('document.words')}</p>
    ${codeLine(document.link, texts.say('overview.address'))}
    <p class="buttons">
      <a class="button" href=${document.raw}>${texts.say('document.raw')}</a>
      ${' '}<a class="button" href=${document.raw} download=${`${contract.service}.${document.name === 'WSDL' ? 'wsdl' : 'xsd'}`}>${texts.say('document.download')}</a>
      ${' '}<a class="button" href=${href(view, '')}>${texts.say('document.overview')}</a>
    </p>
    ${
      document.name === 'WSDL' &&
      html`<h2 id="imports">${texts.say('document.imports')}</h2>${importLines(document.link)}`
    }
    <h2>${texts.say('document.facts')}</h2>
    <dl>
      <dt>${texts.say('document.service')}</dt><dd dir="auto">${contract.service}</dd>
      <dt>${texts.say('document.namespace')}</dt><dd><code>${contract.namespaces.types}</code></dd>
      <dt>${texts.say('overview.operations')}</dt><dd>${contract.operations.length}</dd>
      <dt>${texts.say('overview.addresses')}</dt>
      ${site.soapPaths.map(({ path, version }) => html`<dd><code>${view.address}${path}</code> (SOAP ${version})</dd>`)}
    </dl>
    <h2>${texts.say('overview.operations')}</h2>
    ${operationList(view, contract.operations.slice(0, pageLength))}
    ${
      contract.operations.length > pageLength &&
      html`<p><a href=${href(view, site.folder)}>${texts.say('overview.all')}</a></p>`
    }
  `;
}
