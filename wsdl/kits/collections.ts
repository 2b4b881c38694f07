import { type DocumentNode, element, writeXml } from '../document.ts';
import type { RequestSample } from '../samples/samples.ts';

/** The requests of one operation, as collections have them. */
export interface CollectedOperation {
  readonly name: string;
  readonly requests: readonly RequestSample[];
}

/** What collections are made of. */
export interface Collected {
  readonly service: string;
  readonly namespace: string;
  /** The contract's address, without a slash at the end. */
  readonly address: string;
  readonly wsdl: string;
  /** The names of the WSDL's bindings of SOAP 1.1 and 1.2; undefined for one that it lacks. */
  readonly bindings: { readonly '1.1': string | undefined; readonly '1.2': string | undefined };
  /** Headers with credentials, values as placeholders. */
  readonly credentials: readonly (readonly [name: string, value: string])[];
  readonly operations: readonly CollectedOperation[];
}

const formats = { soap11: 'SOAP 1.1', soap12: 'SOAP 1.2', xml: 'XML', json: 'JSON' } as const;

function headersOf(request: RequestSample, credentials: Collected['credentials']) {
  const own = [['Content-Type', request.contentType] as const, ...Object.entries(request.headers)];
  // an action may be any text; as a URI it is the same with an escape
  const plain = own.map(([name, value]) => [name, value.replace(template, '%7B')] as const);
  return [...plain, ...credentials];
}

/** The brace that begins a template of these tools. */
const template = /(?<=[$#{])\{/g;

/**
 * The same message, in which no value of the document is a template of these tools: SoapUI runs what stands in `${=…}`,
 * Postman and Bruno fill in `{{…}}` from the variables of whoever sends it.
 */
function withoutTemplates({ format, text }: RequestSample): string {
  const brace = format === 'json' ? '\\u007b' : '&#x7b;';
  return text.replace(template, () => brace);
}

/** A Postman collection, format 2.1: a folder for each operation, a request for each form. */
export function writePostman({ service, address, credentials, operations }: Collected): string {
  const item = operations.map(({ name, requests }) => ({
    name,
    item: requests.map((request) => ({
      name: `${name} (${formats[request.format]})`,
      request: {
        method: 'POST',
        header: headersOf(request, credentials).map(([key, value]) => ({ key, value })),
        url: `{{address}}${request.path}`,
        body: {
          mode: 'raw',
          raw: withoutTemplates(request),
          options: { raw: { language: request.format === 'json' ? 'json' : 'xml' } },
        },
      },
    })),
  }));
  const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
  const variable = [{ key: 'address', value: address }];
  return `${JSON.stringify({ info: { name: service, schema }, variable, item }, null, 2)}\n`;
}

/** A Bruno collection: its files by path, a folder for each operation. */
export function writeBruno({
  service,
  address,
  credentials,
  operations,
}: Collected): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  files.set(
    'bruno.json',
    `${JSON.stringify({ version: '1', name: service, type: 'collection' }, null, 2)}\n`,
  );
  files.set('environments/service.bru', `vars {\n  address: ${address}\n}\n`);
  for (const { name, requests } of operations)
    for (const [index, request] of requests.entries()) {
      const body = request.format === 'json' ? 'json' : 'xml';
      // a line break would end the block of headers, and a block of a script may follow
      const headers = headersOf(request, credentials).map(
        ([key, value]) => `  ${key}: ${value.replace(/[\r\n]+/g, ' ')}\n`,
      );
      const text = withoutTemplates(request).trimEnd().replaceAll('\n', '\n  ');
      files.set(
        `${name}/${request.format}.bru`,
        `meta {\n  name: ${name} (${formats[request.format]})\n  type: http\n  seq: ${index + 1}\n}\n\npost {\n  url: {{address}}${request.path}\n  body: ${body}\n  auth: none\n}\n\nheaders {\n${headers.join('')}}\n\nbody:${body} {\n  ${text}\n}\n`,
      );
    }
  return files;
}

/** A SoapUI project: an interface for each binding, with a request for each operation. */
export function writeSoapUi(collected: Collected): string {
  const { service, operations, bindings } = collected;
  const interfaces = (['1.1', '1.2'] as const).flatMap((version) => {
    const binding = bindings[version];
    return binding === undefined || operations.length === 0 ? [] : [interfaceOf(collected, version, binding)];
  });
  const project = element(
    'con:soapui-project',
    {
      'xmlns:con': 'http://eviware.com/soapui/config',
      name: service,
      'soapui-version': '5.7.2',
      resourceRoot: '',
    },
    element('con:settings', {}),
    ...interfaces,
  );
  return writeXml(project);
}

function interfaceOf(
  { namespace, wsdl, address, operations, credentials }: Collected,
  version: '1.1' | '1.2',
  binding: string,
): DocumentNode {
  const format = version === '1.1' ? 'soap11' : 'soap12';
  const requests = operations.map(({ name, requests: all }) => ({
    name,
    request: all.find((one) => one.format === format),
  }));
  const endpoint = `${address}${requests[0]?.request?.path ?? ''}`;
  return element(
    'con:interface',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xsi:type': 'con:WsdlInterface',
      name: binding,
      type: 'wsdl',
      bindingName: `{${namespace}}${binding}`,
      soapVersion: version === '1.1' ? '1_1' : '1_2',
      anonymous: 'optional',
      definition: wsdl,
    },
    element('con:settings', {}),
    element('con:endpoints', {}, element('con:endpoint', {}, endpoint)),
    ...requests.map(({ name, request }) =>
      element(
        'con:operation',
        {
          isOneWay: 'false',
          action: request?.headers.SOAPAction?.replace(/^"|"$/g, '').replace(template, '%7B') ?? name,
          name,
          bindingOperationName: name,
          type: 'Request-Response',
          inputName: '',
          receivesAttachments: 'false',
          sendsAttachments: 'false',
          anonymous: 'optional',
        },
        element('con:settings', {}),
        element(
          'con:call',
          { name: 'Sample' },
          element('con:settings', {}, requestHeaders(credentials)),
          element('con:encoding', {}, 'UTF-8'),
          element('con:endpoint', {}, `${address}${request?.path ?? ''}`),
          element('con:request', {}, request === undefined ? '' : withoutTemplates(request)),
        ),
      ),
    ),
  );
}

/** Headers of HTTP, as SoapUI keeps them: XML within a setting. */
function requestHeaders(credentials: Collected['credentials']): DocumentNode | undefined {
  if (credentials.length === 0) return undefined;
  const entries = credentials.map(([key, value]) => element('entry', { key, value }));
  const text = writeXml(element('xml-fragment', {}, ...entries)).replace(/^<\?xml[^>]*\?>\s*/, '');
  const id = 'com.eviware.soapui.impl.wsdl.WsdlRequest@request-headers';
  return element('con:setting', { id }, text.trim());
}
