import { type Html, html } from './html.ts';
import { codeLine } from './layout.ts';
import { operationsPerPage } from './list-page.ts';
import { importLines, operationList } from './overview.ts';
import { href, type View } from './view.ts';

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
    ${operationList(view, contract.operations.slice(0, operationsPerPage))}
    ${
      contract.operations.length > operationsPerPage &&
      html`<p><a href=${href(view, site.folder)}>${texts.say('overview.all')}</a></p>`
    }
  `;
}
