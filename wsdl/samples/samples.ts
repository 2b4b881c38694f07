import { compileAdopted, type MessageCodec } from '../../mappings/codec/adopted/compile.ts';
import { compileSimpleTypes } from '../../mappings/codec/adopted/simple-types.ts';
import { compileReplyWriters, compileRequestReaders } from '../../mappings/codec/codecs.ts';
import { MismatchError, startReading } from '../../mappings/codec/problem.ts';
import { compileScalars } from '../../mappings/codec/scalars/table.ts';
import { escapeAttribute, quoteJson } from '../../mappings/codec/scalars/text.ts';
import type { CompiledContract, CompiledOperation } from '../../mappings/compiled.ts';
import { type Adopted, movedHeadersOf } from '../../mappings/contract/adopted.ts';
import { defaultLimits, type Limits } from '../../mappings/contract/limits.ts';
import { type Contract, namespaces } from '../../mappings/contract/model.ts';
import type { AdoptedMessage } from '../../mappings/contract/type-graph.ts';
import { JsonError } from '../../mappings/json/grammar.ts';
import { JsonReader } from '../../mappings/json/reader.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { XmlError } from '../../mappings/xml/error.ts';
import { xmlNamespace } from '../../mappings/xml/namespaces.ts';
import { XmlReader } from '../../mappings/xml/reader.ts';
import { bindingOf, portsOf } from '../binding.ts';
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

/** The forms that a message has, as pages and kits show it. */
export type SampleFormat = 'soap11' | 'soap12' | 'xml' | 'json';

/** A message as it goes over the wire. */
export interface MessageSample {
  readonly format: SampleFormat;
  /** The whole value of its Content-Type. */
  readonly contentType: string;
  /** The body, indented; `''` where it has none. */
  readonly text: string;
}

/** A request, with where it goes. */
export interface RequestSample extends MessageSample {
  /** Below the contract's address, for example `/soap11`. */
  readonly path: string;
  /** Headers beside Content-Type, for example SOAPAction; credentials aren't among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The HTTP headers of the credentials that the message itself has no placeholder for. */
  readonly credentials: readonly CredentialHeader[];
  /** The header blocks of an envelope as XML, each with its own namespace declarations; `''` for none. */
  readonly blocks: string;
}

/** The messages of an operation. */
export interface OperationSamples {
  readonly operation: string;
  /** In the order SOAP 1.1, SOAP 1.2, XML, JSON. */
  readonly requests: readonly RequestSample[];
  /** In the same order; none for an operation that is answered without a message. */
  readonly replies: readonly MessageSample[];
  /** The upstream's reply of which the gateway makes the replies; undefined for an operation without them. */
  readonly upstreamReply: UpstreamReply | undefined;
}

/** Makes samples of a contract's operations; what all of them share is compiled once. */
export interface Sampler {
  /**
   * The samples of an operation; undefined for a name that the contract lacks. Values are the document's examples, else
   * plausible by name, type and format; credentials are placeholders like `YOUR_API_KEY`. Each is what the gateway's own
   * codecs write and read, so it is valid; types that hold themselves end after some levels. The same contract gives the same samples.
   */
  readonly samplesOf: (operation: string) => OperationSamples | undefined;
}

/** The body's element and the header blocks of a message, without an envelope. */
interface Payload {
  readonly element: string;
  readonly headers: string;
}

/** The names of the credentials that a request has placeholders for, by its form. */
interface PlacedCredentials {
  readonly soap: ReadonlySet<string>;
  readonly xml: ReadonlySet<string>;
  readonly json: ReadonlySet<string>;
}

/** An operation's values, before they are put in messages. */
interface Values {
  readonly requestJson: string;
  readonly request: Payload;
  readonly placed: PlacedCredentials;
  /** The upstream's reply, and what becomes of it; undefined where the operation has no reply. */
  readonly replyJson: string | undefined;
  readonly reply: Payload | undefined;
  readonly upstreamReply: UpstreamReply | undefined;
}

/** What to try, the best first: what the gateway doesn't take is left out. */
const extents = [
  { examples: true, optional: true },
  { examples: false, optional: true },
  { examples: true, optional: false },
  { examples: false, optional: false },
] as const satisfies readonly Extent[];

/**
 * A sampler of a contract. It compiles codecs of its own, so that nobody else's are under way in it. Where the limits allow
 * no sample of an operation, the sample is one that the default limits allow.
 *
 * @param isSparse whether requests have required members only; those of an adopted service are empty if that is accepted
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

/** Makes samples within the limits of a contract. Throws JsonError or XmlError if these allow no sample of the operation. */
function samplerWithin(compiled: CompiledContract, isSparse: boolean): Sample {
  const { adopted } = compiled.contract;
  const valuesOf =
    adopted === undefined ? plainSampler(compiled, isSparse) : adoptedSampler(compiled, adopted, isSparse);
  return (name) => {
    const operation = compiled.operations.get(name);
    return operation === undefined ? undefined : inMessages(compiled, operation, valuesOf(operation));
  };
}

// --- values ----------------------------------------------------------------------------------------

type ValuesOf = (operation: CompiledOperation) => Values;

/** The values of an ordinary contract's operations. */
function plainSampler({ contract: own, limits }: CompiledContract, isSparse: boolean): ValuesOf {
  // what the document asks of values holds for samples also where requests are checked by types alone
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

/** Returns the JSON of a sample: the first of several extents that the codecs accept. */
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

/** The output's JSON as the gateway reads it of the upstream's reply. */
function readOf(operation: CompiledOperation, json: string, limits: Limits): string {
  const { status, headers, body } = upstreamReplyOf(operation.operation, json, limits);
  const read = operation.readAnswer({ status, headers, body: Buffer.from(body) });
  return read === undefined ? 'null' : read.toString('utf8');
}

/** Whether the gateway reads a request's element without a problem; credentials may travel elsewhere. */
function isReadAsXml(operation: CompiledOperation, element: string, limits: Limits): boolean {
  const xml = new XmlReader(element, limits);
  xml.readRoot();
  const reading = startReading(1);
  operation.readXml(xml, reading);
  return reading.problems.length === 0 && reading.missing.length === 0;
}

/** Whether the gateway reads a request's JSON and finds that each value fits its place in the call upstream. */
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

/** Whether the gateway reads a request's JSON without a problem; credentials may travel elsewhere. */
function isRead(operation: CompiledOperation, json: string): boolean {
  const reading = startReading(1);
  operation.readJson(json, reading);
  return reading.problems.length === 0 && reading.missing.length === 0;
}

/** False where the function finds that a value isn't of its type. */
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

/** The values of an adopted service's operations. */
function adoptedSampler(
  { contract, limits }: CompiledContract,
  { service }: Adopted,
  isSparse: boolean,
): ValuesOf {
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
      movedHeadersOf(contract).map(({ name, block, path }) => [
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
    const asked = written('request', declared.input, request, (json) => isRead(operation, json), sparse);
    const given =
      declared.output === undefined || reply === undefined
        ? undefined
        : written('reply', declared.output, reply, (json) => reply.write(Buffer.from(json)).dropped === 0);
    const { headers } = asked.payload;
    return {
      requestJson: asked.json,
      request: { ...asked.payload, headers: headers + token.xml },
      placed: {
        soap: new Set([...asked.credentials, ...token.credentials]),
        xml: new Set(),
        json: asked.credentials,
      },
      replyJson: given?.json,
      reply: given?.payload,
      upstreamReply: given && upstreamReplyOf(operation.operation, given.json, limits),
    };
  };
}

const empty: SampleValue = { json: '{}', credentials: new Set() };

/** The namespace of a prefix that needs no declaration. */
function namespaceOf(prefix: string): string | undefined {
  return prefix === 'xml' ? xmlNamespace : undefined;
}

/** The WS-Security block of a contract that reads a UsernameToken (W45); no XML for one that reads none. */
function tokenBlock(
  { wsse }: Contract,
  placeholders: ReadonlyMap<string, string>,
): { readonly xml: string; readonly credentials: readonly string[] } {
  if (wsse === undefined) return { xml: '', credentials: [] };
  const { username, password } = wsse;
  const value = (name: string): string => placeholders.get(name) ?? '';
  return {
    xml: `<wsse:Security xmlns:wsse="${namespaces.wsse}"><wsse:UsernameToken><wsse:Username>${value(username)}</wsse:Username><wsse:Password>${value(password)}</wsse:Password></wsse:UsernameToken></wsse:Security>`,
    credentials: [username, password],
  };
}

// --- messages --------------------------------------------------------------------------------------

function inMessages(
  compiled: CompiledContract,
  operation: CompiledOperation,
  values: Values,
): OperationSamples {
  const { name } = operation.operation;
  const action = bindingOf(compiled.contract, name).action;
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
  return { operation: name, requests, replies, upstreamReply: values.upstreamReply };
}

/** Where an operation is called in a version; an adopted service's port of that version, where it has one. */
function soapPath({ contract }: CompiledContract, name: string, version: '1.1' | '1.2'): string {
  const own = portsOf(contract).filter((port) => port.has(name));
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
