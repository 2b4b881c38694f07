import { callErrors } from '../../gateway/protocols/error-samples.ts';
import type { Operation } from '../../mappings/contract/model.ts';
import { documentName } from '../../wsdl/adopted.ts';
import { hasSchemaNumber, schemaList } from '../../wsdl/schema.ts';
import { mostInKit } from './contract-kit.ts';
import { type Html, html } from './html.ts';
import { collections } from './kit.ts';
import { codeBlock, searchForm, table } from './layout.ts';
import { prose, summary } from './prose.ts';
import { documentPagePath } from './requests.ts';
import { signInWays } from './sign-in.ts';
import { credentialBlocks, href, operationHref, operationsOf, type View } from './view.ts';

/** So many operations the overview lists by itself; of more it lists the tags, whose pages have them. */
export const mostListed = 120;

/** What the service is, where it is, how to sign in, what may go wrong, and its operations. */
export function overviewPage(view: View): Html {
  const { texts, site } = view;
  const { contract } = site;
  const say = texts.say;
  return html`
    <h1 dir="auto">${contract.service}</h1>
    ${prose(contract.documentation)}
    ${searchForm(view)}
    <nav class="contents" aria-label=${say('overview.contents')}>
      <a href="#operations">${say('overview.operations')}</a>
      <a href="#wsdl">${say('overview.wsdl')}</a>
      <a href="#addresses">${say('overview.addresses')}</a>
      <a href="#sign-in">${say('overview.signIn')}</a>
      <a href="#errors">${say('overview.errors')}</a>
      <a href="#limits">${say('overview.limits')}</a>
      <a href=${href(view, `${site.folder}/-/doctor`)}>${say('doctor.title')}</a>
    </nav>
    <section aria-labelledby="operations">
      <h2 id="operations">${say('overview.operations')}</h2>
      ${operations(view)}
    </section>
    <section aria-labelledby="wsdl">
      <h2 id="wsdl">${say('overview.wsdl')}</h2>
      <p>${say('overview.wsdlWords')}</p>
      <ul class="links">${documentLinks(view)}</ul>
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
  `;
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
    ${tagDocument(view, tag)}
    ${operationList(view, members)}`;
}

/** The WSDL of a tag's operations alone; nothing for an adopted service, whose documents are its own. */
export function tagDocument({ site, texts, address }: View, tag: string): Html {
  if (site.contract.adopted !== undefined) return undefined;
  const query = `wsdl&${new URLSearchParams({ tag })}`;
  return html`<p class="slice"><a href=${`${address}/soap11?${query}`}>${texts.say('overview.slice', { tag })}</a></p>`;
}

/** What clients of all operations begin with, or of a tag's; words on where to get it for more than a kit here has. */
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

/** Operations with a sentence each. */
export function operationList(
  view: View,
  operations: readonly Pick<Operation, 'name' | 'documentation'>[],
): Html {
  return html`<ul class="operations">
    ${operations.map(
      ({ name, documentation }) =>
        html`<li><a href=${operationHref(view, name)}>${name}</a> <span dir="auto">${summary(documentation)}</span></li>`,
    )}
  </ul>`;
}

function documentLinks({ site, address, texts, up, chosen }: View): Html {
  const { contract, soapPaths, folder } = site;
  const { adopted } = contract;
  const paths = soapPaths.map(({ path }) => path);
  const links: (readonly [path: string | undefined, name: string])[] =
    adopted === undefined
      ? paths.map((path) => [path, 'wsdl'])
      : adopted.service.documents.map((document) => [paths[0], documentName(document)]);
  if (adopted === undefined)
    for (const number of schemaList)
      if (hasSchemaNumber(contract, number)) links.push([paths[0], `xsd=${number}`]);
  const language = chosen === undefined ? '' : `&lang=${chosen}`;
  return links.map(([path, name]) => {
    const link = `${address}${path}?${name}`;
    const about = `${up}${folder}${documentPagePath}?${name}${language}`;
    return html`<li><a href=${link}>${link}</a> · <a href=${about}>${texts.say('overview.document')}</a></li>`;
  });
}

function addresses({ site, address, texts }: View): Html {
  const rows: Html[][] = site.soapPaths.map(({ path, version }) => [
    `SOAP ${version}`,
    html`<code>POST ${address}${path}</code>`,
  ]);
  rows.push(['XML', html`<code>POST ${address}/xml/reply/${'{operation}'}</code>`]);
  rows.push(['JSON', html`<code>POST ${address}/json/reply/${'{operation}'}</code>`]);
  if (site.contract.routes.length > 0) rows.push(['REST', texts.say('overview.rest')]);
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
  const { retryAfterMs } = site.compiled.limits;
  return html`
    <p>${say(settings.soapErrors === 'fault' ? 'errors.fault' : 'errors.inBand')}</p>
    ${table(
      [say('errors.code'), say('errors.status'), say('errors.meaning'), say('errors.again')],
      callErrors.map(({ code, status, message }) => [
        html`<code>${code}</code>`,
        String(status),
        message,
        say(isWorthAgain(status) ? 'errors.later' : 'errors.mend'),
      ]),
      say('overview.errors'),
    )}
    <p>${say('errors.retries', { ms: retryAfterMs })}</p>
  `;
}

/** Whether the same call may go well later, with nothing mended. */
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
    ['limits.credential', number.format(all.credential)],
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
