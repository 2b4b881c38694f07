import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { type Running, serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { all, descendants, only, readTree, type Tree } from '../wsdl/tree.ts';
import { bodyMeant, type Sidecar } from './dotnet.ts';
import { type RawReply, sendRaw } from './exchange.ts';

const captures = join(import.meta.dirname, '../fixtures/captures');

/** The expected result of a captured request. */
interface Outcome {
  readonly wsdl?: true;
  /** The SOAP version of request and reply (W3). */
  readonly reply?: 'soap11' | 'soap12';
  readonly operation?: string;
  /** The upstream's request body, byte for byte. */
  readonly body?: string;
  readonly refusal?: Refusal;
}

interface Refusal {
  readonly status: number;
  readonly errorCode: string;
  /** Pairs of errorCode and fieldName. */
  readonly errors: readonly (readonly [string, string])[];
  /** The reason, only in `expected.json`; replies do not contain it. */
  readonly rule?: string;
}

const expected: Readonly<Record<string, Outcome>> = JSON.parse(
  readFileSync(join(captures, 'expected.json'), 'utf8'),
);

/** The types namespace of the captured clients. */
const typesNamespace = 'http://screening.example.com/v2/types';
const versions = {
  soap11: ['http://schemas.xmlsoap.org/soap/envelope/', 'text/xml; charset=utf-8'],
  soap12: ['http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml; charset=utf-8'],
} as const;
const headerCredentials = { apiUserId: 'api-user', apiUserKey: 'key-in-a-header' };

/** Requests that the upstream received. */
const calls: { readonly path: string; readonly body: string }[] = [];
const upstream = createServer((request, response) => {
  request
    .setEncoding('utf8')
    .reduce((text: string, chunk: string) => text + chunk, '')
    .then((body) => {
      calls.push({ path: `${request.method} ${request.url}`, body });
      response.setHeader('Content-Type', 'application/json').end('{"data":{"responseStatus":null}}');
    });
});
const contract = mkdtempSync(join(tmpdir(), 'captures-contract-'));
let gateway: Running;

test.before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  copyFileSync(join(screeningContract, 'openapi.yaml'), join(contract, 'openapi.yaml'));
  const overlay = readFileSync(join(screeningContract, 'soap.yaml'), 'utf8');
  writeFileSync(
    join(contract, 'soap.yaml'),
    overlay.replace(/^( {2}types): http\S+$/m, `$1: ${typesNamespace}`),
  );
  gateway = await serve({
    contract,
    host: '127.0.0.1',
    port: 0,
    upstreamUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    upstreamDatabase: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    logLevel: 'silent',
    drainDelayMs: 0,
  });
});

test.after.always(async () => {
  rmSync(contract, { recursive: true, force: true });
  upstream.close();
  await gateway.stop(0);
  upstream.closeAllConnections();
});

/** Replaces the path of a captured request, `/s/{client}/{scenario}/v2/…`, by the gateway's path. */
function onGateway(request: Buffer): Buffer {
  const lineEnd = request.indexOf('\r\n');
  const line = request
    .toString('latin1', 0, lineEnd)
    .replace(/ \/s\/[^/]+\/[^/]+(\/v2\/\S+)/, ' $1')
    .replace('/v2/wsdl/main', '/v2/soap11?wsdl')
    .replace('/v2/wsdl/only11', '/v2/soap11?wsdl');
  return Buffer.concat([Buffer.from(line, 'latin1'), request.subarray(lineEnd)]);
}

/** Replays a request and returns its result in the form of `expected`. */
async function replay(file: string, request: Buffer): Promise<Outcome> {
  try {
    return await outcomeOf(request);
  } catch (error) {
    throw new Error(file, { cause: error });
  }
}

async function outcomeOf(request: Buffer): Promise<Outcome> {
  calls.length = 0;
  const reply = await sendRaw(gateway.url, request);
  const head = request.toString('latin1', 0, request.indexOf('\r\n\r\n'));
  if (/^expect:/im.test(head) !== reply.continued)
    throw new Error('expected 100 Continue where it was asked for');
  const root = readTree(reply.body);
  if (root.name.endsWith('definitions')) return wsdlOf(reply, root);
  const version = versionOf(root, reply);
  const [payload] = all(root, 's:Body').flatMap(({ children }) => children);
  if (payload === undefined) throw new Error(`expected a payload, got ${reply.body}`);
  const operation = payload.name.replace(/Response$/, '');
  const [call] = calls;
  if (call === undefined) return { reply: version, operation, refusal: refusalOf(payload, reply) };
  if (calls.length > 1 || call.path !== `POST /json/reply/${operation}`)
    throw new Error(`expected one call of ${operation}, got ${calls.map(({ path }) => path)}`);
  if (reply.status !== 200 || 'x-status' in reply.headers)
    throw new Error(`expected a success, got ${reply.body}`);
  return { reply: version, operation, body: call.body };
}

function wsdlOf(reply: RawReply, root: Tree): Outcome {
  if (reply.status !== 200 || reply.headers['content-type'] !== 'text/xml; charset=utf-8') {
    throw new Error(`expected a WSDL as text/xml, got ${reply.status} ${reply.headers['content-type']}`);
  }
  if (root.attributes.targetNamespace !== typesNamespace) throw new Error('expected the types namespace');
  const operations = all(only(root, 'wsdl:portType'), 'wsdl:operation');
  if (operations.length !== 12) throw new Error(`expected 12 operations, got ${operations.length}`);
  return { wsdl: true };
}

/** Returns the SOAP version of a reply from the namespace of its root. The Content-Type must match (W7). */
function versionOf(root: Tree, reply: RawReply): 'soap11' | 'soap12' {
  for (const version of ['soap11', 'soap12'] as const) {
    const [namespace, contentType] = versions[version];
    if (root.name === 's:Envelope' && root.attributes['xmlns:s'] === namespace) {
      if (reply.headers['content-type'] === contentType) return version;
      throw new Error(`expected ${contentType}, got ${reply.headers['content-type']}`);
    }
  }
  throw new Error(`expected an envelope, got ${reply.body.slice(0, 200)}`);
}

/** Reads an in-band error (W26). */
function refusalOf(payload: Tree, reply: RawReply): Refusal {
  if (reply.status !== 200) throw new Error(`expected an in-band error, got ${reply.status} ${reply.body}`);
  const status = only(only(payload, 'Data'), 'ResponseStatus');
  const errors = descendants(status).filter(({ name }) => name === 'ResponseError');
  return {
    status: Number(reply.headers['x-status']),
    errorCode: only(status, 'ErrorCode').text,
    errors: errors.map((error) => [only(error, 'ErrorCode').text, only(error, 'FieldName').text] as const),
  };
}

/** Returns the expected result of a captured request without the reason. */
function expectedOf(file: string): Outcome {
  const { refusal, ...rest } = expected[file] ?? {};
  if (refusal === undefined) return rest;
  const { rule: _, ...shown } = refusal;
  return { ...rest, refusal: shown };
}

const clients = readdirSync(captures, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

for (const client of clients.filter((name) => name !== 'dotnet')) {
  const files = readdirSync(join(captures, client)).map((file) => `${client}/${file}`);
  test.serial(
    `what ${client} meant is what the upstream gets, in ${files.length} requests of it`,
    async (t) => {
      for (const file of files) {
        t.deepEqual(
          await replay(file, onGateway(readFileSync(join(captures, file)))),
          expectedOf(file),
          file,
        );
      }
    },
  );
}

const dotnet = readdirSync(join(captures, 'dotnet')).filter((file) => file.endsWith('.xml'));

/**
 * Returns the captured envelope as .NET posts it. Credentials are in headers if the message's Authentication is nil.
 */
function posted(sidecar: Sidecar, envelope: Buffer, headers: readonly string[]): Buffer {
  const lines = [
    'POST /v2/soap11 HTTP/1.1',
    'Host: 127.0.0.1',
    `Content-Type: ${sidecar.contentType}`,
    `SOAPAction: ${sidecar.soapAction}`,
    ...headers,
    `Content-Length: ${envelope.length}`,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), envelope]);
}

test.serial(
  `the values that .NET’s DataContractSerializer wrote are the values upstream, in ${dotnet.length} requests of it`,
  async (t) => {
    for (const name of dotnet) {
      const file = `dotnet/${name}`;
      const envelope = readFileSync(join(captures, file));
      const sidecar: Sidecar = JSON.parse(readFileSync(join(captures, file.replace(/xml$/, 'json')), 'utf8'));
      const byHeader = sidecar.expect.some(({ path }) => path === 'authentication');
      const headers = byHeader
        ? [`X-Api-User: ${headerCredentials.apiUserId}`, `X-Api-Key: ${headerCredentials.apiUserKey}`]
        : [];
      const [, long = ''] = /<SubUserName>(x{60000,})</.exec(envelope.toString()) ?? [];
      const meant: Outcome =
        file in expected
          ? expectedOf(file)
          : {
              reply: 'soap11',
              operation: sidecar.operation,
              body: bodyMeant(sidecar, headerCredentials, long),
            };
      t.deepEqual(await replay(file, posted(sidecar, envelope, headers)), meant, file);
    }
  },
);

test.serial(
  'a .NET caller whose Authentication is nil, with no credentials in headers either, is refused (W24)',
  async (t) => {
    const file = join(captures, 'dotnet/UpdateSubUser-soap11-authentication-null');
    const sidecar: Sidecar = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
    const { refusal } = await replay(file, posted(sidecar, readFileSync(`${file}.xml`), []));
    t.deepEqual(refusal?.errors, [
      ['NotEmpty', 'Authentication.ApiUserId'],
      ['NotEmpty', 'Authentication.ApiUserKey'],
    ]);
  },
);

test('every captured file is accounted for', (t) => {
  const files = clients.flatMap((client) =>
    readdirSync(join(captures, client)).map((file) => `${client}/${file}`),
  );
  const sidecars = dotnet.map((name) => `dotnet/${name.replace(/xml$/, 'json')}`);
  const accounted = new Set([
    ...Object.keys(expected),
    ...dotnet.map((name) => `dotnet/${name}`),
    ...sidecars,
  ]);
  t.deepEqual(files.toSorted(), [...accounted].toSorted());
  t.is(files.length, 422);
});
