import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { someNames } from '../../mappings/codec/scalars/text.ts';
import type { Contract, Operation } from '../../mappings/contract/model.ts';
import { typeGraphOf } from '../../mappings/type-graph.ts';
import { sliceContract } from '../../wsdl/slice.ts';
import { http } from '../node-http.ts';
import { loadContract } from '../process/load-place.ts';
import { finding } from './failure.ts';
import { helpEnd, wrongInputText } from './help.ts';
import { type ContractFlags, contractAction, contractCommand, placeOf } from './options.ts';
import { jsonOption, print, printError, printJson } from './output.ts';

interface TranslateFlags extends ContractFlags {
  readonly to: 'json' | 'xml';
  readonly operation?: string;
  readonly status: number;
  readonly header: readonly Header[];
  readonly json: boolean;
}

type Header = readonly [name: string, value: string];

/** One message from standard input, with its contract and flags. */
interface Message {
  readonly contract: Contract;
  readonly flags: TranslateFlags;
  readonly input: Buffer;
}

/** Creates the command `soapbridge translate`. */
export function translateCommand(): Command {
  return contractCommand('translate')
    .description('translate a message read from standard input')
    .addOption(
      new Option(
        '--to <side>',
        'json: translate a request to its upstream call; xml: translate a response to its reply',
      )
        .choices(['json', 'xml'])
        .default('json'),
    )
    .addOption(new Option('--operation <name>', 'operation; required unless the request names it'))
    .addOption(
      new Option('--status <code>', 'status of the response, with --to xml').default(200).argParser(toStatus),
    )
    .addOption(
      new Option('--header <line>', "header of the request or response, such as 'X-Api-Key: k' (repeatable)")
        .default([])
        .argParser(addHeader),
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      helpEnd("soapbridge translate parcels.yaml --header 'X-Api-Key: k' < request.xml", {
        0: 'the message was translated',
        1: 'the gateway rejects the message',
        2: wrongInputText,
      }),
    )
    .action(contractAction(translate));
}

async function translate(flags: TranslateFlags): Promise<void> {
  const { contract } = loadContract(placeOf(flags), flags.limits);
  const message = { contract, flags, input: await buffer(process.stdin) };
  // An answer may be empty, a request must not.
  if (flags.to === 'json' && message.input.toString('latin1').trim() === '')
    throw new RangeError(
      'standard input: expected a message, got none. Redirect a file: soapbridge translate FILE.yaml < request.xml',
    );
  if (flags.to === 'json') await translateRequest(message);
  else await translateAnswer(message);
}

// --- a request -------------------------------------------------------------------------------------

/** The upstream call as it is sent, without headers of the connection. */
interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

async function translateRequest(message: Message): Promise<void> {
  let call: Call | undefined;
  const { meant, text } = await throughGateway(message, requestOf(message), async (request, response) => {
    call = await callOf(request);
    response.writeHead(204).end();
  });
  if (call === undefined) printRefusal(message.flags, meant, text);
  else if (message.flags.json) printJson({ ...call, ...bodyOf(call.body) });
  else printCall(call);
}

/** A path below the contract's base path, with media type and further headers. */
interface Route {
  readonly path: string;
  readonly type: string;
  readonly headers: readonly Header[];
}

/** Returns path, media type and headers for a message: a SOAP envelope, an element of an operation, or JSON. */
function requestOf({ contract, flags, input }: Message): Route {
  const headers = flags.header;
  const text = input.toString('utf8');
  if (/^\s*\{/.test(text))
    return {
      path: `/json/reply/${encodeURIComponent(stated(flags, contract).name)}`,
      type: 'application/json',
      headers,
    };
  const root = rootOf(text);
  if (root === '')
    throw new RangeError(
      'standard input: expected a SOAP envelope, an element of an operation, or JSON, got text',
    );
  if (root === 'Envelope') {
    // Each path accepts envelopes of both versions (W3). An adopted contract only has the path of a version that one of
    // its ports has (A5).
    const isOnlySoap12 = contract.ports.every(({ soap }) => soap === '1.2');
    return { path: isOnlySoap12 ? '/soap12' : '/soap11', type: 'text/xml', headers };
  }
  const operation = flags.operation === undefined ? ofElement(contract, root) : stated(flags, contract);
  return { path: `/xml/reply/${encodeURIComponent(operation.name)}`, type: 'application/xml', headers };
}

/** Returns the local name of a document's root element; '' if none is found. */
function rootOf(text: string): string {
  let at = text.indexOf('<');
  for (;;) {
    const end = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined;
    if (end === undefined) break;
    const endAt = text.indexOf(end, at);
    if (endAt < 0) return '';
    at = text.indexOf('<', endAt);
  }
  const [, , local = ''] = /^<([\w.-]+:)?([\w.-]+)[\s/>]/.exec(text.slice(Math.max(at, 0))) ?? [];
  return local;
}

const ofConnection = new Set(['connection', 'content-length', 'host', 'transfer-encoding', 'x-request-id']);

async function callOf(request: IncomingMessage): Promise<Call> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (!ofConnection.has(name)) headers[name] = String(value);
  }
  return { method: request.method ?? '', path: request.url ?? '', headers, body: await buffer(request) };
}

function bodyOf(body: Buffer): { readonly body: string | undefined; readonly base64?: string } {
  if (!isUtf8(body)) return { body: undefined, base64: body.toString('base64') };
  return { body: body.length === 0 ? undefined : body.toString('utf8') };
}

function printCall({ method, path, headers, body }: Call): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  print(`${method} ${path}\n${lines.join('')}`);
  if (body.length === 0) return;
  print('\n');
  print(body);
  if (body.at(-1) !== 10) print('\n');
}

// --- an answer -------------------------------------------------------------------------------------

/** Sends a sample request to trigger the reply. The content of the sample does not appear in the reply. */
async function translateAnswer(message: Message): Promise<void> {
  const { flags } = message;
  // A mapping may lack rules for requests with all members, or for requests with only the required ones.
  const sparse = await elicit(message, true);
  const { isForwarded, status, meant, text } = sparse.isForwarded ? sparse : await elicit(message, false);
  // An error status of the upstream is expected to give an error. A success status is not.
  if (!isForwarded || (flags.status < 300 && meant >= 400)) printRefusal(flags, meant, text);
  else if (flags.json) printJson({ status, reply: text });
  else print(`${text}\n`);
}

/** @param isSparse true for a sample with only the required members */
async function elicit(
  message: Message,
  isSparse: boolean,
): Promise<GatewayReply & { readonly isForwarded: boolean }> {
  const { flags, input } = message;
  const { sample, route } = await sampleOf(message, isSparse);
  let isForwarded = false;
  const reply = await throughGateway(sample, route, (_request, response) => {
    isForwarded = true;
    const empty = input.length === 0 || flags.status === 204;
    const type = empty ? [] : [['content-type', 'application/json'] as const];
    response.writeHead(flags.status, Object.fromEntries([...type, ...flags.header]));
    response.end(empty ? undefined : input);
  });
  return { ...reply, isForwarded };
}

/**
 * Returns a request that triggers the reply. It is JSON unless the body's element names the operation, because the
 * action may not select the operation (A6).
 */
async function sampleOf(
  message: Message,
  isSparse: boolean,
): Promise<{ readonly sample: Message; readonly route: Route }> {
  const { contract, flags } = message;
  const { name } = stated(flags, contract);
  // loaded on demand, like `serve` below
  const { compileContract } = await import('../../mappings/compile.ts');
  const { createSampler } = await import('../../wsdl/samples/samples.ts');
  const samples = createSampler(compileContract(contract, flags.limits), isSparse).samplesOf(name);
  const isSoap = samples?.binding.dispatch === 'name';
  const request = samples?.requests.find(({ format }) => format === (isSoap ? 'soap11' : 'json'));
  if (request === undefined) throw new Error(`expected a sample of ${name}, got none`);
  return {
    sample: { ...message, input: Buffer.from(request.text) },
    route: {
      path: request.path + (isSoap ? '' : '?format=soap11'),
      type: request.contentType,
      headers: request.credentials.map(({ header, value }): Header => [header, value]),
    },
  };
}

// --- both ------------------------------------------------------------------------------------------

interface GatewayReply {
  readonly status: number;
  /** Status that the HTTP status cannot express (W26). */
  readonly meant: number;
  readonly text: string;
}

/** Sends the message to a temporary gateway with `answer` as its upstream. */
async function throughGateway(
  { flags, input }: Message,
  { path, type, headers }: Route,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> | void,
): Promise<GatewayReply> {
  // Loaded on demand, so that wrong flags are reported at once.
  const { serve } = await import('../process/serve.ts');
  const upstream = http.createServer(answer);
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const gateway = await serve({
    contract: placeOf(flags),
    limits: flags.limits,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    upstreamOnly: true,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'silent',
    drainDelayMs: 0,
  });
  try {
    const reply = await fetch(gateway.address + path, {
      method: 'POST',
      headers: [['content-type', type], ...headers.map(([...line]) => line), ['connection', 'close']],
      body: new Uint8Array(input),
    });
    const { status } = reply;
    return { status, meant: Number(reply.headers.get('x-status') ?? status), text: await reply.text() };
  } finally {
    await gateway.stop(0);
    upstream.close();
  }
}

function printRefusal({ json }: TranslateFlags, status: number, text: string): void {
  if (json) printJson({ refused: { status, reply: text } });
  else printError(`rejected with status ${status}:\n${text}`);
  process.exitCode = finding;
}

function stated({ operation }: TranslateFlags, contract: Contract): Operation {
  if (operation === undefined)
    throw new RangeError(`--operation: expected the name of an operation, got none. ${namesOf(contract)}`);
  return named(contract, operation);
}

/** Returns the operations of a contract as the end of a message. */
function namesOf({ operations }: Contract): string {
  return `The contract has ${someNames(operations.map(({ name }) => name))}`;
}

/** Returns the operation that has a request element with this local name. Throws RangeError. */
function ofElement(contract: Contract, local: string): Operation {
  const graph = typeGraphOf(contract);
  const found = contract.operations.filter((operation) => {
    const { body } = graph.messagesOf(operation).input;
    return body.kind !== 'empty' && (body.kind === 'rpc' ? body.wrapper : body.element.name).local === local;
  });
  const [only, ...others] = found;
  if (only === undefined && contract.operations.every(({ binding }) => binding.dispatch === 'name'))
    return named(contract, local);
  if (only === undefined || others.length > 0)
    throw new RangeError(
      `--operation: expected the name of an operation, got none, and ${found.length === 0 ? 'no operation has' : 'several operations have'} the element <${local}>`,
    );
  return only;
}

/** Returns the operation with a name. Throws RangeError. */
function named(contract: Contract, name: string): Operation {
  const [operation] = sliceContract(contract, { operations: [name], tags: [] }).operations;
  if (operation === undefined)
    throw new RangeError(`operation: expected the name of an operation, got ${JSON.stringify(name)}`);
  return operation;
}

function toStatus(text: string): number {
  if (!/^[2-5]\d\d$/.test(text)) throw new InvalidArgumentError('expected a status from 200 to 599.');
  return Number(text);
}

function addHeader(line: string, headers: readonly Header[]): readonly Header[] {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\r\n]*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("expected a header line such as 'X-Api-Key: k'.");
  return [...headers, [name, value.trimStart()]];
}
