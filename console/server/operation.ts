import { callErrors, errorSample } from '../../gateway/protocols/error-samples.ts';
import type { CompiledOperation } from '../../mappings/compile.ts';
import { requiresSignature } from '../../mappings/contract/credentials.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { routeTemplate } from '../../wsdl/page.ts';
import { type Html, html } from './html.ts';
import { collections, programsOf } from './kit.ts';
import { addressCode, codeBlock, table } from './layout.ts';
import { badges } from './overview.ts';
import { prose } from './prose.ts';
import { formatNames, type Sample, sampleFile, samplesOf } from './samples.ts';
import { memberTree, messageTree } from './tree.ts';
import { href, type View } from './view.ts';

/** Renders an operation's page: description, request and reply, samples of both, errors, and a form to try it. */
export function operationPage(view: View, compiled: CompiledOperation): Html {
  const { site, texts } = view;
  const say = texts.say;
  const { operation } = compiled;
  const { input, output } = typeGraphOf(site.contract).messagesOf(operation);
  const mayTry = site.tryIt !== 'off';
  return html`
    <p class="crumbs"><a href=${href(view, '')}>${say('operation.all')}</a>
      ${operation.tags.map((tag) => html` › <a href=${href(view, site.folder, { tag })} dir="auto">${tag}</a>`)}</p>
    <h1>${operation.name}</h1>
    <p>${badges(view, operation.name)}</p>
    ${prose(operation.documentation)}
    <nav class="contents" aria-label=${say('overview.contents')}>
      <a href="#request">${say('operation.request')}</a>
      <a href="#reply">${say('operation.reply')}</a>
      <a href="#samples">${say('operation.samples')}</a>
      <a href="#programs">${say('kit.title')}</a>
      <a href="#errors">${say('overview.errors')}</a>
      ${mayTry && html`<a href="#try">${say('try.title')}</a>`}
    </nav>
    <section aria-labelledby="addresses">
      <h2 id="addresses">${say('overview.addresses')}</h2>
      ${addresses(view, compiled)}
    </section>
    <section aria-labelledby="request">
      <h2 id="request">${say('operation.request')}</h2>
      ${messageMembers(view, input)}
    </section>
    <section aria-labelledby="reply">
      <h2 id="reply">${say('operation.reply')}</h2>
      ${messageMembers(view, output)}
    </section>
    <section aria-labelledby="samples">
      <h2 id="samples">${say('operation.samples')}</h2>
      ${samples(view, compiled)}
    </section>
    <section aria-labelledby="programs">
      <h2 id="programs">${say('kit.title')}</h2>
      ${programs(view, compiled)}
    </section>
    <section aria-labelledby="errors">
      <h2 id="errors">${say('overview.errors')}</h2>
      ${declaredErrors(view, compiled)}
      <h3>${say('operation.gatewayErrors')}</h3>
      ${gatewayErrors(view, compiled)}
    </section>
    ${mayTry && tryIt(view, compiled)}
  `;
}

/**
 * Renders the members of a message. For a WSDL, header blocks and the body element are included. For an OpenAPI
 * contract, the element is omitted, since it is named like the operation. A one-way operation has no reply.
 */
function messageMembers(view: View, message: AdoptedMessage | undefined): Html {
  const { texts, site, address } = view;
  if (message === undefined) return html`<p>${texts.say('operation.oneWay')}</p>`;
  if (message.body.kind === 'element' && !message.body.element.global)
    return memberTree(view, message.body.element.type);
  const [first] = site.soapPaths;
  return html`<p>${texts.say('operation.ofWsdl')} <a href=${`${address}${first?.path}?wsdl`}>WSDL</a></p>
    ${messageTree(view, message)}`;
}

/** Renders a table of the operation's addresses, one per format and route. A signed request can only be SOAP. */
function addresses({ site, address, texts }: View, { operation }: CompiledOperation): Html {
  const { name, binding } = operation;
  const { action } = binding;
  const isSoapOnly = requiresSignature(site.contract.wsse);
  const routes = isSoapOnly ? [] : site.contract.routes;
  const rows: Html[][] = site.soapPaths.map(({ path, version }) => [
    `SOAP ${version}`,
    addressCode(`POST ${address}${path}`),
    version === '1.1' ? html`<code>SOAPAction: "${action}"</code>` : html`<code>action="${action}"</code>`,
  ]);
  if (!isSoapOnly) {
    rows.push(['XML', addressCode(`POST ${address}/xml/reply/${name}`), '']);
    rows.push(['JSON', addressCode(`POST ${address}/json/reply/${name}`), '']);
  }
  for (const route of routes)
    if (route.operation.name === name)
      rows.push(['REST', addressCode(`${route.method} ${address}${routeTemplate(route)}`), '']);
  const say = texts.say;
  return table(
    [say('overview.format'), say('overview.address'), say('operation.header')],
    rows,
    say('overview.addresses'),
  );
}

/** Renders the samples of the request and of the reply, one per format. The first of each is open. */
function samples(view: View, compiled: CompiledOperation): Html {
  const { site, texts } = view;
  const all = samplesOf(site, compiled);
  if (all.length === 0) return html`<p>${texts.say('operation.noSamples')}</p>`;
  return (['request', 'reply'] as const).map((side) => {
    const ofSide = all.filter((each) => each.side === side && each.text !== '');
    if (ofSide.length === 0) return undefined;
    return html`<h3>${texts.say(`operation.${side}`)}</h3>
      ${ofSide.map((each, at) => sample(view, compiled, each, at === 0))}`;
  });
}

function sample(view: View, { operation }: CompiledOperation, each: Sample, isOpen: boolean): Html {
  const { site, texts } = view;
  const file = sampleFile(operation.name, each);
  const link = href(view, `${site.folder}/${encodeURIComponent(operation.name)}/samples/${file}`);
  const label = `${texts.say(`operation.${each.side}`)}, ${formatNames[each.format]}`;
  return html`<details class="sample" open=${isOpen}>
    <summary>${formatNames[each.format]}</summary>
    <p>
      <code>Content-Type: ${each.contentType}</code>${' '}
      <a href=${link} download=${file}>${texts.say('operation.download', { file })}</a>
    </p>
    ${codeBlock(each.text, label)}
  </details>`;
}

/** Renders a program for each stack, and links to collections. */
function programs(view: View, { operation }: CompiledOperation): Html {
  const { site, texts, address } = view;
  const all = programsOf(site, address, operation.name);
  if (all.length === 0) return html`<p>${texts.say('operation.noSamples')}</p>`;
  const link = (file: string): string =>
    href(view, `${site.folder}/${encodeURIComponent(operation.name)}/kit/${file}`);
  return html`<p>
      ${texts.say('kit.words')}${' '}
      ${collections.map(({ file, title }) => html`<a href=${link(file)} download>${title}</a>${' '}`)}
    </p>
    ${all.map(
      ({ title, file, text, isRun }) => html`<details class="sample">
        <summary>${title} ${!isRun && html`<span class="badge">${texts.say('kit.notRun')}</span>`}</summary>
        <p><a href=${link(file)} download>${texts.say('operation.download', { file })}</a></p>
        ${codeBlock(text, title)}
      </details>`,
    )}`;
}

/** Renders the errors that the document or the WSDL declares for the operation. */
function declaredErrors(view: View, { operation }: CompiledOperation): Html {
  const { say } = view.texts;
  const { errors: described = [] } = operation;
  const { faults } = operation.binding;
  if (described.length === 0 && faults.length === 0) return undefined;
  return html`<h3>${say('operation.declaredErrors')}</h3>
    ${
      described.length > 0 &&
      table(
        [say('errors.status'), say('errors.meaning')],
        described.map(({ status, description }) => [status, html`<span dir="auto">${description}</span>`]),
        say('operation.declaredErrors'),
      )
    }
    ${faults.map(
      (fault) => html`<details class="error">
        <summary><code>${fault.name}</code></summary>
        ${messageTree(view, { body: { kind: 'element', element: fault.element }, headers: [] })}
      </details>`,
    )}`;
}

/** Renders the errors that the gateway reports for a call of each operation, in SOAP 1.1 and JSON. */
function gatewayErrors(view: View, compiled: CompiledOperation): Html {
  const { site, texts } = view;
  const say = texts.say;
  return html`<p>${say('operation.errorWords')}</p>
    ${callErrors.map(({ code, status, message }) => {
      const soap = errorSample(site.compiled, compiled, 'soap11', code);
      const json = errorSample(site.compiled, compiled, 'json', code);
      const head = `HTTP/1.1 ${soap.status}\nContent-Type: ${soap.contentType}${soap.meant === undefined ? '' : `\nX-Status: ${soap.meant}`}`;
      return html`<details class="error">
        <summary><code>${code}</code> <span class="badge">${status}</span> ${message}</summary>
        ${codeBlock(`${head}\n\n${soap.body}`, `${code}, SOAP 1.1`)}
        ${codeBlock(`HTTP/1.1 ${json.status}\nContent-Type: ${json.contentType}\n\n${json.body}`, `${code}, JSON`)}
      </details>`;
    })}`;
}

/** Renders the element in which the script of the pages creates the form. The element's attributes are its input. */
function tryIt({ site, texts, up }: View, { operation }: CompiledOperation): Html {
  const folder = `${up}${site.folder}`;
  return html`<section aria-labelledby="try">
    <h2 id="try">${texts.say('try.title')}</h2>
    <p>${texts.say('try.words')}</p>
    <div
      id="try-form"
      data-operation=${operation.name}
      data-base=${up}
      data-describe=${`${folder}/-/describe/${encodeURIComponent(operation.name)}`}
      data-explain=${`${folder}/-/explain`}
      data-preview=${site.tryIt === 'show-upstream' ? `${folder}/-/upstream` : ''}
      data-texts=${JSON.stringify(texts.below('try.'))}
    >
      <p class="noscript">${texts.say('try.needsScript')}</p>
    </div>
  </section>`;
}
