import { compileAdopted, type MessageCodec } from '../../mappings/codec/adopted/compile.ts';
import { compileSimpleTypes } from '../../mappings/codec/adopted/simple-types.ts';
import { compileReplyWriters, compileRequestReaders } from '../../mappings/codec/codecs.ts';
import { MismatchError, startReading } from '../../mappings/codec/problem.ts';
import { compileScalars } from '../../mappings/codec/scalars/table.ts';
import { escapeAttribute, quoteJson } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import { contractKindOf, serviceOf } from '../../mappings/contract/adopted.ts';
import { movedHeadersOf, requiresSignature } from '../../mappings/contract/credentials.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { type Binding, type Contract, namespaces } from '../../mappings/contract/model.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { JsonReader } from '../../mappings/json/reader.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { XmlError } from '../../mappings/xml/error.ts';
import { xmlNamespace } from '../../mappings/xml/namespaces.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { indentJson, indentXml } from './indent.ts';
import { type CredentialHeader, credentialHeaders, placeholdersOf } from './placeholders.ts';
import { type UpstreamReply, upstreamReplyOf, withOneStatus } from './upstream-reply.ts';
import {
  type Extent,
  type SampleValue,
  type Side,
  sampleMessage,
  sampleValue,
  type ValuesContext,
} from './values.ts';

/** Formats of a message on pages and in kits. */
export type SampleFormat = 'soap11' | 'soap12' | 'xml' | 'json';

/** A message as it is sent over HTTP. */
export interface MessageSample {
  readonly format: SampleFormat;
  /** Complete value of Content-Type. */
  readonly contentType: string;
  /** The indented body; `''` if there is none. */
  readonly text: string;
}

/** A request with its path and headers. */
export interface RequestSample extends MessageSample {
  /** Path below the contract's address, for example `/soap11`. */
  readonly path: string;
  /** Headers other than Content-Type and credentials, for example SOAPAction. */
  readonly headers: Readonly<Record<string, string>>;
  /** HTTP headers of the credentials without a placeholder in the message. */
  readonly credentials: readonly CredentialHeader[];
  /** The header blocks of an envelope as XML, each with its own namespace declarations; `''` for none. */
  readonly blocks: string;
}

/** Sample messages of an operation. */
export interface OperationSamples {
  readonly operation: string;
  readonly binding: Binding;
  /** In the order SOAP 1.1, SOAP 1.2, XML, JSON. */
  readonly requests: readonly RequestSample[];
  /** In the same order. Empty for an operation without a reply message. */
  readonly replies: readonly MessageSample[];
  /** The upstream reply that the gateway converts into the replies. Undefined for an operation without replies. */
  readonly upstreamReply: UpstreamReply | undefined;
}

/** Creates samples of a contract's operations. Shared parts are compiled once. */
export interface Sampler {
  /**
   * Returns the samples of an operation, or undefined for a name that the contract does not have. Values are examples
   * of the document, otherwise plausible values by name, type and format. Credentials are placeholders like
   * `YOUR_API_KEY`. The gateway's codecs write and check all samples, so they are valid. Recursive types end after some
   * levels. The same contract gives the same samples.
   */
  readonly samplesOf: (operation: string) => OperationSamples | undefined;
}

/** The body's element and the header blocks of a message, without an envelope. */
interface Payload {
  readonly element: string;
  readonly headers: string;
}

/** Names of the credentials that have placeholders in a request, by format. */
interface PlacedCredentials {
  readonly soap: ReadonlySet<string>;
  readonly xml: ReadonlySet<string>;
  readonly json: ReadonlySet<string>;
}

/** Values of an operation, before they are formatted as messages. */
interface Values {
  readonly requestJson: string;
  readonly request: Payload;
  readonly placed: PlacedCredentials;
  /** The upstream's reply and the gateway's reply. Undefined if the operation has no reply. */
  readonly replyJson: string | undefined;
  readonly reply: Payload | undefined;
  readonly upstreamReply: UpstreamReply | undefined;
}

/** Extents of samples in order of preference. The first one that the gateway accepts is used. */
const extents = [
  { examples: true, optional: true },
  { examples: false, optional: true },
  { examples: true, optional: false },
  { examples: false, optional: false },
] as const satisfies readonly Extent[];

/**
 * Creates a sampler of a contract. It compiles its own codecs, so that it shares no state with running calls. If the
 * contract's limits allow no sample of an operation, the default limits apply.
 *
 * @param isSparse true if requests contain only required members; requests of an adopted service are then empty if that
 * is accepted
 */
export function createSampler(compiled: CompiledContract, isSparse = false): Sampler {
  const sample = samplerWithin(compiled, isSparse);
  let lenient: Sample | undefined;
  return {
    samplesOf: (name) => {
      try {
        return sample(name);
      } catch (error) {
        if (!(error instanceof JsonError || error instanceof XmlError)) throw error;
        lenient ??= samplerWithin(compiled.withLimits(defaultLimits), isSparse);
        return lenient(name);
      }
    },
  };
}

type Sample = Sampler['samplesOf'];

/**
 * Creates samples within the limits of a contract. Throws JsonError or XmlError if the limits allow no sample of the
 * operation.
 */
function samplerWithin(compiled: CompiledContract, isSparse: boolean): Sample {
  const samplerOf = contractKindOf(compiled.contract) === 'openapi' ? plainSampler : adoptedSampler;
  const valuesOf = samplerOf(compiled, isSparse);
  return (name) => {
    const operation = compiled.operations.get(name);
    return operation === undefined ? undefined : inMessages(compiled, operation, valuesOf(operation));
  };
}

// --- values ----------------------------------------------------------------------------------------

type ValuesOf = (operation: CompiledOperation) => Values;

/** Creates values for the operations of an OpenAPI contract. */
function plainSampler({ contract: own, limits }: CompiledContract, isSparse: boolean): ValuesOf {
  // samples obey the document's rules for values even if requests are only checked by type
  const contract: Contract = { ...own, settings: { ...own.settings, validate: 'strict' } };
  const scalars = compileScalars({ settings: contract.settings, limits });
  const readers = compileRequestReaders(contract, scalars, limits);
  const writers = compileReplyWriters(contract, scalars, limits);
  const graph = typeGraphOf(own);
  const accepts: ValuesContext['accepts'] = (node, rules, json) =>
    isTaken(() => {
      const type = graph.sourceOf(node);
      if (type === undefined) throw new RangeError('expected a type of the contract');
      const reading = startReading(1);
      const reader = new JsonReader(json, limits);
      readers.readerOf(type, rules).pass(reader, reading);
      reader.end();
      writers.writeValue(writers.writerOf(type), json);
      return reading.problems.length === 0 && reading.missing.length === 0;
    });
  const context: ValuesContext = {
    contract,
    graph,
    limits,
    accepts,
    fits: (type, rules, token) => rules === undefined || accepts(type, rules, token),
    tokenOf: ({ scalar }, text) => {
      if (scalar === undefined) return quoteJson(text);
      const token = scalars[scalar].fromXml(text);
      return typeof token === 'string' ? token : undefined;
    },
    placeholders: new Map(),
  };
  const { credentials } = contract;
  const inBody = new Set(credentials?.member === undefined ? [] : credentials.parts.map(({ name }) => name));
  const placed = { soap: inBody, xml: inBody, json: inBody };
  return (operation) => {
    const { name, input } = operation.operation;
    const elementOf = (json: string): string => {
      const { content } = writers.writeValue(writers.writerOf(input), json);
      return wrapped(name, contract.namespaces.types, content ?? '');
    };
    const isAccepted = (json: string): boolean =>
      isSent(operation, json) && isReadAsXml(operation, elementOf(json), limits);
    const requestJson = sampled(context, operation, 'request', isSparse, isAccepted);
    const takesReply = (json: string): boolean =>
      !writtenReply(operation, readOf(operation, json, limits)).failed;
    const given = sampled(context, operation, 'reply', isSparse, takesReply);
    const reply = upstreamReplyOf(operation.operation, given, limits);
    const replyJson = readOf(operation, given, limits);
    return {
      requestJson,
      request: { element: elementOf(requestJson), headers: '' },
      placed,
      replyJson,
      reply: { element: writtenReply(operation, replyJson).xml, headers: '' },
      upstreamReply: reply,
    };
  };
}

/** Returns the JSON of a sample with the first extent that the codecs accept. */
function sampled(
  context: ValuesContext,
  operation: CompiledOperation,
  side: Side,
  isSparse: boolean,
  takes: (json: string) => boolean,
): string {
  const { upstream, input, output } = operation.operation;
  const { reply, body } = upstream;
  const type = context.graph.nodeOf(side === 'request' ? input : operation.replyType);
  const named = reply.kind === 'object' ? undefined : output.fields.find(({ json }) => json === reply.name);
  const example = side === 'reply' ? named?.example : undefined;
  const partTypes = new Map(
    (body.kind === 'multipart' ? body.parts : []).flatMap(({ name, contentType }) =>
      contentType === undefined ? [] : [[name, contentType] as const],
    ),
  );
  const sequence = side === 'request' && body.kind === 'lines' ? body.field : undefined;
  const make = (extent: Extent): string => {
    const place = { side, extent, partTypes, sequence };
    const json = sampleValue(context, type, place, extent.examples ? example : undefined);
    return side === 'reply' ? withOneStatus(reply, json, context.limits) : json;
  };
  const all = isSparse && side === 'request' ? [...extents.slice(2), ...extents.slice(0, 2)] : extents;
  for (const extent of all) {
    const json = make(extent);
    if (isTaken(() => takes(json))) return json;
  }
  return make(extents[1]);
}

/** Returns the output's JSON as the gateway reads it from the upstream's reply. */
function readOf(operation: CompiledOperation, json: string, limits: Limits): string {
  const { status, headers, body } = upstreamReplyOf(operation.operation, json, limits);
  const read = operation.readAnswer({ status, headers, body: Buffer.from(body) });
  return read === undefined ? 'null' : read.toString('utf8');
}

/**
 * Returns true if the gateway reads a request's element without a problem. Credentials are not checked, since they may
 * be sent in headers.
 */
function isReadAsXml(operation: CompiledOperation, element: string, limits: Limits): boolean {
  const xml = new XmlReader(element, limits);
  xml.readRoot();
  const reading = startReading(1);
  operation.readXml(xml, reading);
  return reading.problems.length === 0 && reading.missing.length === 0;
}

/** Returns true if the gateway reads a request's JSON, and each value is valid in the call to the upstream. */
function isSent(operation: CompiledOperation, json: string): boolean {
  const reading = startReading(1);
  const input = operation.readJson(json, reading);
  if (reading.problems.length > 0 || reading.missing.length > 0) return false;
  return operation.request(input, undefined) !== undefined && reading.problems.length === 0;
}

function wrapped(name: string, namespace: string, content: string): string {
  const nil = content.includes(' i:') ? ` xmlns:i="${namespaces.xsi}"` : '';
  return `<${name} xmlns="${escapeAttribute(namespace)}"${nil}>${content}</${name}>`;
}

/**
 * Returns true if the gateway reads a request's JSON without a problem. Credentials are not checked, since they may be
 * sent in headers.
 */
function isRead(operation: CompiledOperation, json: string): boolean {
  const reading = startReading(1);
  operation.readJson(json, reading);
  return reading.problems.length === 0 && reading.missing.length === 0;
}

/** Returns false if the function throws because a value does not match its type. */
function isTaken(judge: () => boolean): boolean {
  try {
    return judge();
  } catch (error) {
    const isRefusal =
      error instanceof MismatchError || error instanceof JsonError || error instanceof XmlError;
    if (isRefusal) return false;
    throw error;
  }
}

function writtenReply(operation: CompiledOperation, json: string): { failed: boolean; xml: string } {
  const { failed, xml = '' } = operation.writeReply(Buffer.from(json), { before: '', after: '' });
  if (typeof xml === 'string') return { failed, xml: Buffer.from(xml, 'latin1').toString('utf8') };
  return { failed, xml: (Buffer.isBuffer(xml) ? xml : Buffer.concat(xml)).toString('utf8') };
}

/** Creates values for the operations of an adopted service. */
function adoptedSampler({ contract, limits }: CompiledContract, isSparse: boolean): ValuesOf {
  const service = serviceOf(contract);
  const { operations } = compileAdopted(service, contract.settings, limits);
  const placeholders = placeholdersOf(contract);
  const simpleOf = compileSimpleTypes({ ...contract.settings, validate: 'strict' }, limits);
  const context: ValuesContext = {
    contract,
    graph: typeGraphOf(contract),
    limits,
    // a WSDL has no examples
    accepts: () => false,
    fits: (type, _rules, token) => {
      const reading = startReading(1);
      simpleOf(type).judge?.(token, reading);
      return reading.problems.length === 0;
    },
    tokenOf: (type, text) => {
      const token = simpleOf(type).fromXml(text, namespaceOf);
      return typeof token === 'string' ? token : undefined;
    },
    placeholders: new Map(
      movedHeadersOf(contract.credentials).map(({ name, block, path }) => [
        [block, ...path].join('.'),
        placeholders.get(name) ?? '',
      ]),
    ),
  };
  const written = (
    side: Side,
    message: AdoptedMessage,
    codec: MessageCodec,
    takes: (json: string) => boolean,
    sparse: readonly SampleValue[] = [],
  ): SampleValue & { readonly payload: Payload } => {
    const all = [true, false].map((optional) =>
      sampleMessage(context, message, { side, extent: { examples: false, optional } }),
    );
    if (sparse.length > 0) all.reverse().unshift(...sparse);
    const value = all.find(({ json }) => isTaken(() => takes(json))) ?? all[1] ?? empty;
    const { xml, headers } = codec.write(Buffer.from(value.json));
    return { ...value, payload: { element: xml.toString('utf8'), headers } };
  };
  const token = tokenBlock(contract, placeholders);
  return (operation) => {
    const codecs = operations.get(operation.operation.name);
    if (codecs === undefined) throw new RangeError(`no such operation: ${operation.operation.name}`);
    const { operation: declared, request, reply } = codecs;
    const sparse = isSparse ? [empty] : [];
    const sampleRequest = written(
      'request',
      declared.input,
      request,
      (json) => isRead(operation, json),
      sparse,
    );
    const given =
      declared.output === undefined || reply === undefined
        ? undefined
        : written('reply', declared.output, reply, (json) => reply.write(Buffer.from(json)).dropped === 0);
    const { headers } = sampleRequest.payload;
    return {
      requestJson: sampleRequest.json,
      request: { ...sampleRequest.payload, headers: headers + token.xml },
      placed: {
        soap: new Set([...sampleRequest.credentials, ...token.credentials]),
        xml: new Set(),
        json: sampleRequest.credentials,
      },
      replyJson: given?.json,
      reply: given?.payload,
      upstreamReply: given && upstreamReplyOf(operation.operation, given.json, limits),
    };
  };
}

const empty: SampleValue = { json: '{}', credentials: new Set() };

/** Returns the namespace of a prefix that needs no declaration. */
function namespaceOf(prefix: string): string | undefined {
  return prefix === 'xml' ? xmlNamespace : undefined;
}

/** Returns the WS-Security block of a contract that reads a UsernameToken (W45), otherwise no XML. */
function tokenBlock(
  { wsse }: Contract,
  placeholders: ReadonlyMap<string, string>,
): { readonly xml: string; readonly credentials: readonly string[] } {
  const { username, password } = wsse ?? {};
  if (username === undefined || password === undefined) return { xml: '', credentials: [] };
  const value = (name: string): string => placeholders.get(name) ?? '';
  return {
    xml: `<wsse:Security xmlns:wsse="${namespaces.wsse}"><wsse:UsernameToken><wsse:Username>${value(username)}</wsse:Username><wsse:Password>${value(password)}</wsse:Password></wsse:UsernameToken></wsse:Security>`,
    credentials: [username, password],
  };
}

/** Returns the samples in formats that the contract accepts: only SOAP if calls must be signed (X4). */
export function acceptedSamples({ wsse }: Contract, samples: OperationSamples): OperationSamples {
  if (!requiresSignature(wsse)) return samples;
  const isSoap = ({ format }: MessageSample): boolean => format === 'soap11' || format === 'soap12';
  return { ...samples, requests: samples.requests.filter(isSoap), replies: samples.replies.filter(isSoap) };
}

// --- messages --------------------------------------------------------------------------------------

function inMessages(
  compiled: CompiledContract,
  operation: CompiledOperation,
  values: Values,
): OperationSamples {
  const { name, binding } = operation.operation;
  const { action } = binding;
  const { request, requestJson, reply, replyJson, placed } = values;
  const generic = (form: 'xml' | 'json') => `/${form}/reply/${encodeURIComponent(name)}`;
  const all = credentialHeaders(compiled.contract);
  const without = (inMessage: ReadonlySet<string>) =>
    all.filter(({ credential }) => !inMessage.has(credential));
  const soap = { credentials: without(placed.soap), blocks: request.headers };
  const bare = (form: 'xml' | 'json') => ({
    path: generic(form),
    credentials: without(placed[form]),
    blocks: '',
  });
  const requests: RequestSample[] = [
    {
      ...envelope('soap11', request),
      path: soapPath(compiled, name, '1.1'),
      headers: { SOAPAction: `"${action}"` },
      ...soap,
    },
    {
      ...envelope('soap12', request, action),
      path: soapPath(compiled, name, '1.2'),
      headers: {},
      ...soap,
    },
    ...(request.element === '' ? [] : [{ ...bareXml(request), headers: {}, ...bare('xml') }]),
    { ...bareJson(requestJson), headers: { Accept: 'application/json' }, ...bare('json') },
  ];
  const replies =
    reply === undefined || replyJson === undefined
      ? []
      : [envelope('soap11', reply), envelope('soap12', reply), bareXml(reply), bareJson(replyJson)];
  return { operation: name, binding, requests, replies, upstreamReply: values.upstreamReply };
}

/** Returns the path of an operation in a SOAP version. An adopted service may have a port of that version. */
function soapPath({ contract }: CompiledContract, name: string, version: '1.1' | '1.2'): string {
  const own = contract.ports.filter(({ operations }) => operations.includes(name));
  // a port takes messages of the other version too (A5)
  const port = own.find(({ soap }) => soap === version) ?? own[0];
  return port?.path ?? '';
}

function envelope(
  format: 'soap11' | 'soap12',
  { element, headers }: Payload,
  action?: string,
): MessageSample {
  const head = headers === '' ? '' : `<soap:Header>${headers}</soap:Header>`;
  const xml = `<soap:Envelope xmlns:soap="${namespaces[format]}">${head}<soap:Body>${element}</soap:Body></soap:Envelope>`;
  const stated = action === undefined || action === '' ? '' : `; action="${action}"`;
  const contentType =
    format === 'soap11' ? 'text/xml; charset=utf-8' : `application/soap+xml; charset=utf-8${stated}`;
  return { format, contentType, text: declaration + indentXml(xml) };
}

const declaration = '<?xml version="1.0" encoding="utf-8"?>\n';

function bareXml({ element }: Payload): MessageSample {
  return {
    format: 'xml',
    contentType: 'application/xml; charset=utf-8',
    text: declaration + indentXml(element),
  };
}

function bareJson(json: string): MessageSample {
  return { format: 'json', contentType: 'application/json', text: indentJson(json) };
}
