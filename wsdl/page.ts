import { contractKindOf } from '../mappings/contract/adopted.ts';
import { requiresSignature } from '../mappings/contract/credentials.ts';
import type { Contract, Operation, Route } from '../mappings/contract/model.ts';
import { documentNames } from './binding.ts';
import { type DocumentNode, element, writeHtml } from './document.ts';
import { writeSample } from './sample.ts';

// Contains no quotes or angle brackets, because the HTML writer escapes them.
const style = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark; }
p { white-space: pre-line; }
code, pre { font-family: ui-monospace, monospace; font-size: .9rem; overflow-wrap: anywhere; }
pre { padding: 1rem; border: 1px solid; overflow-x: auto; overflow-wrap: normal; }
`;

/**
 * Writes the page at the base path (W2): the service, its documents and endpoints, the addresses of each operation, an
 * example. The page depends only on the contract and the address. It needs no script and no other resource, so it works
 * with `default-src 'none'; style-src 'unsafe-inline'`. `address` is the same as in `writeWsdl`.
 */
export function writeMetadataPage(contract: Contract, options: { readonly address: string }): string {
  const { address } = options;
  const routes = Map.groupBy(contract.routes, ({ operation }) => operation.name);
  const isSoapOnly = requiresSignature(contract.wsse);
  return writeHtml(
    element(
      'html',
      { lang: 'en' },
      element(
        'head',
        {},
        element('meta', { charset: 'utf-8' }),
        element('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
        element('title', {}, contract.service),
        element('style', {}, style),
      ),
      element(
        'body',
        {},
        element('h1', {}, contract.service),
        paragraph(contract.documentation),
        element('h2', {}, 'WSDL'),
        documentLinks(contract, address),
        element('h2', {}, 'Endpoints'),
        addressList([
          ...pathsOf(contract).map((path) => `POST ${address}${path}`),
          ...(isSoapOnly
            ? []
            : [`POST ${address}/xml/reply/{operation}`, `POST ${address}/json/reply/{operation}`]),
        ]),
        element('h2', {}, 'Operations'),
        ...contract.operations.flatMap((operation) =>
          operationSection(operation, isSoapOnly ? undefined : (routes.get(operation.name) ?? []), address),
        ),
        ...(isSoapOnly ? [] : example(contract, address)),
      ),
    ),
  );
}

/** Links to the WSDL and, for importers that need separate schemas, to its schemas. */
function documentLinks(contract: Contract, address: string): DocumentNode {
  const [path = ''] = pathsOf(contract);
  const links = documentNames(contract).map((query) => {
    const href = `${address}${path}?${query}`;
    return element('li', {}, element('a', { href }, href));
  });
  return element('ul', {}, ...links);
}

/** The paths of SOAP calls, below the contract's address. */
function pathsOf(contract: Contract): readonly string[] {
  return [...new Set(contract.ports.map(({ path }) => path))];
}

/** @param routes undefined if only SOAP calls are accepted */
function operationSection(
  operation: Operation,
  routes: readonly Route[] | undefined,
  address: string,
): (DocumentNode | undefined)[] {
  return [
    element('h3', { id: operation.name }, operation.name),
    paragraph(operation.documentation),
    routes === undefined
      ? undefined
      : addressList([
          `POST ${address}/xml/reply/${operation.name}`,
          `POST ${address}/json/reply/${operation.name}`,
          ...routes.map((route) => `${route.method} ${address}${routeTemplate(route)}`),
        ]),
  ];
}

/** Returns a URI template like `/dbs/{id}?subUserName={subUserName}`. */
export function routeTemplate({ segments, query }: Route): string {
  const path = segments
    .map((segment) => (segment.kind === 'literal' ? `/${segment.text}` : `/{${segment.field}}`))
    .join('');
  const parameters = query.map((name) => `${name}={${name}}`).join('&');
  return parameters === '' ? path : `${path}?${parameters}`;
}

/** Shows a curl call of the first read-only operation, or of the first operation if none is read-only. */
function example(contract: Contract, address: string): DocumentNode[] {
  if (contractKindOf(contract) === 'adopted') return []; // samples exist only for OpenAPI contracts
  const operation = contract.operations.find(({ readOnly }) => readOnly) ?? contract.operations[0];
  if (operation === undefined) return [];
  const command = [
    `curl --data-binary @- '${address}/soap11' \\`,
    `  -H 'Content-Type: text/xml; charset=utf-8' -H 'SOAPAction: "${operation.name}"' <<'XML'`,
    `${writeSample(contract, operation)}XML`,
  ];
  return [element('h2', {}, 'Example'), element('pre', {}, command.join('\n'))];
}

function paragraph(text: string): DocumentNode | undefined {
  return text === '' ? undefined : element('p', {}, text);
}

function addressList(addresses: readonly string[]): DocumentNode {
  return element('ul', {}, ...addresses.map((address) => element('li', {}, element('code', {}, address))));
}
