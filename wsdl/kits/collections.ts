import { type DocumentNode, element, writeXml } from '../document.ts';
import type { CredentialHeader } from '../samples/placeholders.ts';
import type { RequestSample } from '../samples/samples.ts';

/** Requests of one operation in a collection. */
export interface CollectedOperation {
  readonly name: string;
  /** Folder of the operation's files. */
  readonly folder: string;
  readonly requests: readonly RequestSample[];
}

/** Facts about a contract that collections are generated from. */
export interface Collected {
  readonly service: string;
  readonly namespace: string;
  /** The contract's address, without a slash at the end. */
  readonly address: string;
  readonly wsdl: string;
  /** Names of the WSDL's bindings of SOAP 1.1 and 1.2. Undefined if the WSDL has no binding of that version. */
  readonly bindings: { readonly '1.1': string | undefined; readonly '1.2': string | undefined };
  /** All credentials of the contract. A collection has a variable for each. */
  readonly credentials: readonly CredentialHeader[];
  readonly operations: readonly CollectedOperation[];
}

const formats = { soap11: 'SOAP 1.1', soap12: 'SOAP 1.2', xml: 'XML', json: 'JSON' } as const;

/** Writes a reference to a variable in the syntax of a tool. */
type Reference = (variable: string) => string;

/** Reference syntax of Postman and Bruno. */
const braces: Reference = (variable) => `{{${variable}}}`;
/** Reference syntax of SoapUI, to a property of the project. */
const property: Reference = (variable) => `\${#Project#${variable}}`;

/** A header of a request in a collection. `isOptional` marks a credential that is not required. */
interface CollectedHeader {
  readonly key: string;
  readonly value: string;
  readonly isOptional?: true;
}

function headersOf(
  { contentType, headers }: RequestSample,
  given: readonly CredentialHeader[],
  reference: Reference,
): readonly CollectedHeader[] {
  const own = [['Content-Type', contentType] as const, ...Object.entries(headers)];
  return [
    ...own.map(([key, value]) => ({ key, value: plainText(value) })),
    ...credentialsAs(given, reference),
  ];
}

function credentialsAs(given: readonly CredentialHeader[], reference: Reference): readonly CollectedHeader[] {
  return given.map(({ header, value, placeholder, required }) => ({
    key: plainText(header),
    value: value.replace(placeholder, () => reference(variableOf(placeholder))),
    ...(required ? {} : { isOptional: true as const }),
  }));
}

/** Returns the variable of a placeholder: `API_KEY` for `YOUR_API_KEY`. */
function variableOf(placeholder: string): string {
  return placeholder.slice('YOUR_'.length);
}

/** The brace that starts a template in these tools. */
const template = /(?<=[$#{])\{/g;

/**
 * Percent-encodes template braces, so that the tools do not expand text of the contract. In a URI the meaning is
 * unchanged.
 */
export function plainText(text: string): string {
  return text.replace(template, '%7B');
}

/**
 * Returns the message without templates: SoapUI runs `${=…}`, and Postman and Bruno replace `{{…}}` by the user's
 * variables. Placeholders of credentials become references to the collection's variables.
 */
function bodyOf(
  { format, text }: RequestSample,
  credentials: readonly CredentialHeader[],
  reference: Reference,
): string {
  const plain = withoutTemplates(format, text);
  if (credentials.length === 0) return plain;
  const known = new Set(credentials.map(({ placeholder }) => placeholder));
  return plain.replace(/\bYOUR_[A-Z\d_]+\b/g, (word) =>
    known.has(word) ? reference(variableOf(word)) : word,
  );
}

/** Escapes template braces with the escapes of the message's format. */
export function withoutTemplates(format: RequestSample['format'], text: string): string {
  const brace = format === 'json' ? '\\u007b' : '&#x7b;';
  return text.replace(template, () => brace);
}

/** Writes a Postman collection, format 2.1: a folder for each operation, a request for each message format. */
export function writePostman({ service, address, credentials, operations }: Collected): string {
  const item = operations.map(({ name, requests }) => ({
    name,
    item: requests.map((request) => ({
      name: `${name} (${formats[request.format]})`,
      request: {
        method: 'POST',
        header: headersOf(request, request.credentials, braces).map(({ key, value, isOptional }) => ({
          key,
          value,
          ...(isOptional && { description: 'optional' }),
        })),
        url: `{{address}}${plainText(request.path)}`,
        body: {
          mode: 'raw',
          raw: bodyOf(request, credentials, braces),
          options: { raw: { language: request.format === 'json' ? 'json' : 'xml' } },
        },
      },
    })),
  }));
  const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';
  const variable = [
    { key: 'address', value: address },
    ...credentials.map(({ placeholder }) => ({ key: variableOf(placeholder), value: placeholder })),
  ];
  return `${JSON.stringify({ info: { name: service, schema }, variable, item }, null, 2)}\n`;
}

/** Returns the files of a Bruno collection by path, with a folder for each operation. */
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
  const values = credentials.map(({ placeholder }) => `  ${variableOf(placeholder)}: ${placeholder}\n`);
  files.set('environments/service.bru', `vars {\n  address: ${address}\n${values.join('')}}\n`);
  for (const { name, folder, requests } of operations)
    for (const [index, request] of requests.entries()) {
      const body = request.format === 'json' ? 'json' : 'xml';
      // a line break would end the block of headers, and a script block could follow
      const headers = headersOf(request, request.credentials, braces).map(
        ({ key, value }) => `  ${key}: ${value.replace(/[\r\n]+/g, ' ')}\n`,
      );
      const text = bodyOf(request, credentials, braces).trimEnd().replaceAll('\n', '\n  ');
      files.set(
        `${folder}/${request.format}.bru`,
        `meta {\n  name: ${name} (${formats[request.format]})\n  type: http\n  seq: ${index + 1}\n}\n\npost {\n  url: {{address}}${plainText(request.path)}\n  body: ${body}\n  auth: none\n}\n\nheaders {\n${headers.join('')}}\n\nbody:${body} {\n  ${text}\n}\n`,
      );
    }
  return files;
}

/** Writes a SoapUI project: an interface for each binding, with a request for each operation. */
export function writeSoapUi(collected: Collected): string {
  const { service, operations, bindings, credentials } = collected;
  const interfaces = (['1.1', '1.2'] as const).flatMap((version) => {
    const binding = bindings[version];
    return binding === undefined || operations.length === 0 ? [] : [interfaceOf(collected, version, binding)];
  });
  const properties = credentials.map(({ placeholder }) =>
    element(
      'con:property',
      {},
      element('con:name', {}, variableOf(placeholder)),
      element('con:value', {}, placeholder),
    ),
  );
  const project = element(
    'con:soapui-project',
    {
      'xmlns:con': 'http://eviware.com/soapui/config',
      name: plainText(service),
      'soapui-version': '5.7.2',
      resourceRoot: '',
    },
    element('con:settings', {}),
    ...interfaces,
    properties.length === 0 ? undefined : element('con:properties', {}, ...properties),
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
    name: plainText(name),
    request: all.find((one) => one.format === format),
  }));
  const endpointOf = (request: RequestSample | undefined): string =>
    plainText(`${address}${request?.path ?? ''}`);
  return element(
    'con:interface',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xsi:type': 'con:WsdlInterface',
      name: plainText(binding),
      type: 'wsdl',
      bindingName: plainText(`{${namespace}}${binding}`),
      soapVersion: version === '1.1' ? '1_1' : '1_2',
      anonymous: 'optional',
      definition: plainText(wsdl),
    },
    element('con:settings', {}),
    element('con:endpoints', {}, element('con:endpoint', {}, endpointOf(requests[0]?.request))),
    ...requests.map(({ name, request }) =>
      element(
        'con:operation',
        {
          isOneWay: 'false',
          action: plainText(request?.headers.SOAPAction?.replace(/^"|"$/g, '') ?? name),
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
          element('con:settings', {}, requestHeaders(request)),
          element('con:encoding', {}, 'UTF-8'),
          element('con:endpoint', {}, endpointOf(request)),
          element('con:request', {}, request === undefined ? '' : bodyOf(request, credentials, property)),
        ),
      ),
    ),
  );
}

/** Returns the credentials of a request in SoapUI's format for HTTP headers: XML within a setting. */
function requestHeaders(request: RequestSample | undefined): DocumentNode | undefined {
  if (request === undefined || request.credentials.length === 0) return undefined;
  const entries = credentialsAs(request.credentials, property).map(({ key, value }) =>
    element('entry', { key, value }),
  );
  const text = writeXml(element('xml-fragment', {}, ...entries)).replace(/^<\?xml[^>]*\?>\s*/, '');
  const id = 'com.eviware.soapui.impl.wsdl.WsdlRequest@request-headers';
  return element('con:setting', { id }, text.trim());
}
