import { shownConstants } from '../../gateway/http/pages.ts';
import { callErrors } from '../../gateway/protocols/error-samples.ts';
import { contractKindOf } from '../../mappings/contract/adopted.ts';
import { requiresSignature } from '../../mappings/contract/credentials.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import { documentNames } from '../../wsdl/binding.ts';
import { mostInKit } from './contract-kit.ts';
import { type Html, html, webAddress } from './html.ts';
import { collections } from './kit.ts';
import { addressCode, codeBlock, codeLine, table } from './layout.ts';
import { prose, summary } from './prose.ts';
import { documentPagePath } from './requests.ts';
import { signInWays } from './sign-in.ts';
import {
  credentialBlocks,
  href,
  mostListed,
  operationHref,
  operationsOf,
  titleOf,
  type View,
} from './view.ts';

/** Renders the overview: description, addresses, sign-in, errors and operations of the service. */
export function overviewPage(view: View): Html {
  const { texts, site } = view;
  const { contract } = site;
  const say = texts.say;
  const left = contract.notServed;
  return html`
    <h1 dir="auto">${titleOf(site)}</h1>
    ${about(view)}
    ${prose(contract.documentation)}
    <nav class="contents" aria-label=${say('overview.contents')}>
      <a href="#operations">${say('overview.operations')}</a>
      <a href="#wsdl">${say('overview.wsdl')}</a>
      <a href="#addresses">${say('overview.addresses')}</a>
      <a href="#sign-in">${say('overview.signIn')}</a>
      <a href="#errors">${say('overview.errors')}</a>
      <a href="#limits">${say('overview.limits')}</a>
      ${left.length > 0 && html`<a href="#not-served">${say('overview.notServed')}</a>`}
      <a href=${href(view, `${site.folder}/-/doctor`)}>${say('doctor.title')}</a>
    </nav>
    <section aria-labelledby="operations">
      <h2 id="operations">${say('overview.operations')}</h2>
      ${operations(view)}
    </section>
    <section aria-labelledby="wsdl">
      <h2 id="wsdl">${say('overview.wsdl')}</h2>
      <p>${wsdlWords(view)} <a href=${documentHref(view, 'wsdl')}>${say('overview.document')}</a></p>
      ${codeLine(wsdlAddress(view), say('overview.wsdl'))}
      <details class="sample">
        <summary>${say('overview.imports')}</summary>
        ${importLines(wsdlAddress(view))}
      </details>
      <ul class="links">${documentLinks(view)}
        <li><a href=${href(view, `${site.folder}.json`)}>${say('overview.json')}</a></li></ul>
      ${contractKits(view, undefined)}
    </section>
    <section aria-labelledby="addresses">
      <h2 id="addresses">${say('overview.addresses')}</h2>
      ${addresses(view)}
    </section>
    <section aria-labelledby="sign-in">
      <h2 id="sign-in">${say('overview.signIn')}</h2>
      ${signIn(view)}
    </section>
    <section aria-labelledby="errors">
      <h2 id="errors">${say('overview.errors')}</h2>
      ${errors(view)}
    </section>
    <section aria-labelledby="limits">
      <h2 id="limits">${say('overview.limits')}</h2>
      ${limits(view)}
    </section>
    ${left.length > 0 && notServedSection(view, left)}
  `;
}

function notServedSection(view: View, left: Contract['notServed']): Html {
  const { say } = view.texts;
  return html`<section aria-labelledby="not-served">
    <h2 id="not-served">${say('overview.notServed')}</h2>
    <p>${say('overview.notServedWords')}</p>
    <dl>
      ${left
        .slice(0, mostNotServed)
        .map(({ name, why }) => html`<dt dir="auto"><code>${name}</code></dt><dd dir="auto">${why}</dd>`)}
    </dl>
    ${left.length > mostNotServed && html`<p>${say('overview.notServedMore', { count: left.length - mostNotServed })}</p>`}
  </section>`;
}

/** Maximum number of operations that the overview lists as not served. */
const mostNotServed = 200;

/** Renders version, contact, licence and further documentation from the document. */
function about({ site, texts }: View): Html {
  const { about: metadata, service } = site.contract;
  if (metadata === undefined) return undefined;
  const { version, contact, license, termsOfService, externalDocs } = metadata;
  const link = (address: string, text = ''): Html => {
    const url = webAddress(address);
    return url === undefined ? text : html`<a href=${url} rel="noreferrer nofollow">${text || url}</a>`;
  };
  const person = [link(contact.url, contact.name), contact.email].filter((part) => part !== '');
  const parts: readonly (readonly [key: string, value: Html])[] = [
    ['about.service', service],
    ['about.version', version],
    ['about.contact', person.length === 0 ? '' : person.map((part, at) => [at > 0 && ', ', part])],
    ['about.license', link(license.url, license.name)],
    ['about.terms', link(termsOfService)],
    ['about.docs', link(externalDocs)],
  ];
  const shown = parts.filter(([, value]) => value !== '');
  return html`<ul class="about">
    ${shown.map(([key, value]) => html`<li dir="auto"><span>${texts.say(key)}</span> ${value}</li>`)}
  </ul>`;
}

function operations(view: View): Html {
  const { site, texts } = view;
  const { contract, tags, untagged } = site;
  if (contract.operations.length <= mostListed) {
    const groups = [...tags].map(([tag, members]) => tagGroup(view, tag, members));
    if (untagged.length === 0) return groups;
    const rest = operationList(view, untagged);
    return groups.length === 0 ? rest : [groups, html`<h3>${texts.say('overview.untagged')}</h3>`, rest];
  }
  const { folder } = site;
  return html`
    <p>${texts.say('overview.many', { count: contract.operations.length })}
      ${' '}<a href=${href(view, folder)}>${texts.say('overview.all')}</a></p>
    <ul class="tags">
      ${[...tags].map(
        ([tag, members]) =>
          html`<li><a href=${href(view, folder, { tag })} dir="auto">${tag}</a> <span>${members.length}</span></li>`,
      )}
    </ul>
  `;
}

function tagGroup(view: View, tag: string, members: readonly Operation[]): Html {
  return html`<h3 dir="auto">${tag}</h3>
    ${tagWords(view, tag)}
    ${tagDocument(view, tag)}
    ${operationList(view, members)}`;
}

/** Renders the description of a tag. */
export function tagWords({ site }: View, tag: string): Html {
  return prose(site.contract.about?.tags.find(({ name }) => name === tag)?.description ?? '');
}

/** Links to a WSDL with only a tag's operations. Only OpenAPI documents have tags. */
export function tagDocument({ texts, address }: View, tag: string): Html {
  const query = `wsdl&${new URLSearchParams({ tag })}`;
  return html`<p class="slice"><a href=${`${address}/soap11?${query}`}>${texts.say('overview.slice', { tag })}</a></p>`;
}

/**
 * Links to kits of all operations or of a tag's operations. If there are too many operations, it points to the command
 * line instead.
 */
export function contractKits(view: View, tag: string | undefined): Html {
  const { site, texts } = view;
  const { length } = operationsOf(site, tag);
  if (length > mostInKit) return html`<p>${texts.say('kit.tooMany', { count: mostInKit })}</p>`;
  const query = tag === undefined ? {} : { tag };
  return html`<p>
    ${texts.say('kit.ofAll')}${' '}
    ${collections.map(({ file, title }) => html`<a href=${href(view, `${site.folder}/-/kit/${file}`, query)} download>${title}</a>${' '}`)}
  </p>`;
}

/** Renders badges of an operation: its HTTP method, read or write, and deprecated. */
export function badges({ site, texts }: View, name: string): Html {
  const operation = site.operations.get(name.toLowerCase())?.operation;
  if (operation === undefined) return undefined;
  const { upstream, readOnly, deprecated } = operation;
  const isPlain = contractKindOf(site.contract) === 'openapi';
  return html`<span class="badges">
    ${isPlain && html`<span class="badge method">${upstream.method}</span>${' '}`}
    <span class=${readOnly ? 'badge read' : 'badge write'}>${texts.say(readOnly ? 'operation.readOnly' : 'operation.writes')}</span>
    ${deprecated === true && [' ', html`<span class="badge warn">${texts.say('tree.deprecated')}</span>`]}
  </span>`;
}

/** Lists operations, each with a one-sentence summary. */
export function operationList(
  view: View,
  operations: readonly Pick<Operation, 'name' | 'documentation'>[],
): Html {
  return html`<ul class="operations">
    ${operations.map(
      ({ name, documentation }) =>
        html`<li><a href=${operationHref(view, name)}>${name}</a> ${badges(view, name)} <span class="summary" dir="auto">${summary(documentation)}</span></li>`,
    )}
  </ul>`;
}

/** Returns the address of the whole WSDL. */
function wsdlAddress({ site, address }: View): string {
  return `${address}${site.soapPaths[0]?.path ?? ''}?wsdl`;
}

/** Renders the command that imports a WSDL, for each stack. */
export function importLines(link: string): Html {
  const wsdl = link.replace(/[\s"'\\`$]/g, '');
  const lines: readonly (readonly [title: string, line: string])[] = [
    ['.NET', `dotnet-svcutil "${wsdl}"`],
    ['Java (JAX-WS)', `wsimport -keep -p client "${wsdl}"`],
    ['Java (CXF)', `wsdl2java -p client "${wsdl}"`],
    ['PHP', `$client = new SoapClient('${wsdl}');`],
    ['Python (zeep)', `client = zeep.Client('${wsdl}')`],
    ['Node (soap)', `const client = await soap.createClientAsync('${wsdl}');`],
  ];
  return lines.map(([title, line]) => html`<h3>${title}</h3>${codeLine(line, title)}`);
}

/** Returns the address of the page about a document, for example `wsdl` or `xsd=1`. */
function documentHref({ up, site, chosen }: View, name: string): string {
  return `${up}${site.folder}${documentPagePath}?${name}${chosen === undefined ? '' : `&lang=${chosen}`}`;
}

function documentLinks(view: View): Html {
  const { site, address, texts } = view;
  const [, ...others] = documentNames(site.contract); // the first one is shown with a copy button
  return others.map((name) => {
    const link = `${address}${site.soapPaths[0]?.path}?${name}`;
    return html`<li><a href=${link}>${link}</a> · <a href=${documentHref(view, name)}>${texts.say('overview.document')}</a></li>`;
  });
}

/** Describes the SOAP versions of the WSDL, and the location of its schemas. */
function wsdlWords({ site, texts }: View): string {
  const { documents } = site.contract;
  if (documents.length === 0) return texts.say('overview.wsdlWords');
  const found = new Set(site.soapPaths.map(({ version }) => `SOAP ${version}`));
  const words = texts.say('overview.wsdlVersions', { versions: [...found].toSorted().join(', ') });
  return documents.length > 1 ? `${words} ${texts.say('overview.wsdlParts')}` : words;
}

function addresses({ site, address, texts }: View): Html {
  const rows: Html[][] = site.soapPaths.map(({ path, version }) => [
    `SOAP ${version}`,
    addressCode(`POST ${address}${path}`),
  ]);
  if (!requiresSignature(site.contract.wsse)) {
    rows.push(['XML', addressCode(`POST ${address}/xml/reply/{operation}`)]);
    rows.push(['JSON', addressCode(`POST ${address}/json/reply/{operation}`)]);
    if (site.contract.routes.length > 0) rows.push(['REST', texts.say('overview.rest')]);
  }
  return table(
    [texts.say('overview.format'), texts.say('overview.address')],
    rows,
    texts.say('overview.addresses'),
  );
}

function signIn(view: View): Html {
  const { site, texts } = view;
  const ways = signInWays(site.contract, credentialBlocks(site));
  if (ways.length === 0) return html`<p>${texts.say('signIn.none')}</p>`;
  const parts = site.contract.credentials?.parts ?? [];
  const optional = parts.filter(({ required }) => !required).map(({ header }) => header);
  return html`
    <p>${texts.say('signIn.words')}</p>
    <ul>
      ${parts.map(
        ({ name, required }) =>
          html`<li><code>${name}</code>${required ? html` <strong class="badge required">${texts.say('tree.required')}</strong>` : ''}</li>`,
      )}
    </ul>
    ${ways.map(({ key, sample }) => {
      const label = texts.say(`signIn.${key}`);
      return html`<h3>${label}</h3>${codeBlock(sample, label)}`;
    })}
    ${optional.length > 0 && html`<p>${texts.say('signIn.optional', { names: optional.join(', ') })}</p>`}
    ${ways.length > 1 && html`<p>${texts.say('signIn.conflict')}</p>`}
  `;
}

function errors(view: View): Html {
  const { site, texts } = view;
  const say = texts.say;
  const { settings } = site.contract;
  const { retryAfterMs } = shownConstants(site.compiled.limits);
  return html`
    <p>${say(settings.soapErrors === 'fault' ? 'errors.fault' : 'errors.inBand')}</p>
    ${table(
      [say('errors.code'), say('errors.status'), say('errors.meaning'), say('errors.again')],
      callErrors.map(({ code, status, message }) => [
        html`<code>${code}</code>`,
        String(status),
        message,
        say(isWorthAgain(status) ? 'errors.later' : 'errors.correct'),
      ]),
      say('overview.errors'),
    )}
    <p>${say('errors.retries', { ms: retryAfterMs })}</p>
  `;
}

/** Returns true if the same call may succeed later without a change. */
function isWorthAgain(status: number): boolean {
  return status === 408 || status >= 500;
}

function limits({ site, texts }: View): Html {
  const { limits: all, contract } = site.compiled;
  const binary = contract.operations.some(({ binaryInput }) => binaryInput);
  const number = new Intl.NumberFormat(texts.language);
  const rows: [string, string][] = [
    ['limits.body', sizeText(binary ? all.bodyBytesWithBinary : all.bodyBytes, number)],
    ['limits.time', `${number.format(all.totalMs / 1000)} s`],
    ['limits.text', number.format(all.xmlText)],
    ['limits.depth', number.format(all.xmlDepth)],
    ['limits.elements', number.format(all.xmlElements)],
    ['limits.credential', number.format(shownConstants(all).credential)],
  ];
  return table(
    [texts.say('limits.what'), texts.say('limits.most')],
    rows.map(([key, value]) => [texts.say(key), value]),
    texts.say('overview.limits'),
  );
}

function sizeText(bytes: number, number: Intl.NumberFormat): string {
  return bytes >= 1024 * 1024
    ? `${number.format(bytes / 1024 / 1024)} MiB`
    : `${number.format(bytes / 1024)} KiB`;
}
