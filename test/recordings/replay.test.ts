import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { Running } from '../../gateway/process/running.ts';
import { serve } from '../../gateway/process/serve.ts';
import { screeningContract } from '../../mappings/loader/load.ts';
import { checks, nameOf } from '../interop/checks.ts';
import { knownGaps } from '../interop/known-gaps.ts';
import { loadStacks } from '../interop/stacks.ts';
import { type RawReply, sendRaw } from '../send-raw.ts';
import { all, descendants, only, readTree, type Tree } from '../wsdl/tree.ts';
import { type Outcome, type Recording, type Refusal, readRecordings, recordedStacks } from './recordings.ts';

/** The types namespace of the screening contract, and the one that other recordings were made with. */
const ownNamespace = 'http://schemas.servicestack.net/types';
const otherNamespace = 'http://screening.example.com/v2/types';

const versions = {
  soap11: ['http://schemas.xmlsoap.org/soap/envelope/', 'text/xml; charset=utf-8'],
  soap12: ['http://www.w3.org/2003/05/soap-envelope', 'application/soap+xml; charset=utf-8'],
} as const;

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
const otherContract = mkdtempSync(join(tmpdir(), 'recordings-contract-'));
let own: Running;
let other: Running;

function start(contract: string): Promise<Running> {
  return serve({
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
}

test.before(async () => {
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  copyFileSync(join(screeningContract, 'openapi.yaml'), join(otherContract, 'openapi.yaml'));
  const overlay = readFileSync(join(screeningContract, 'soap.yaml'), 'utf8');
  const renamed = overlay.replace(/^( {2}types): http\S+$/m, `$1: ${otherNamespace}`);
  writeFileSync(join(otherContract, 'soap.yaml'), renamed);
  own = await start(screeningContract);
  other = await start(otherContract);
});

test.after.always(async () => {
  rmSync(otherContract, { recursive: true, force: true });
  upstream.close();
  await own.stop(0);
  await other.stop(0);
  upstream.closeAllConnections();
});

/** Replaces the path of a recorded request, `/s/{client}/{scenario}/v2/…`, by the gateway's path. */
function onGateway(request: Buffer): Buffer {
  const lineEnd = request.indexOf('\r\n');
  const line = request
    .toString('latin1', 0, lineEnd)
    .replace(/ \/s\/[^/]+\/[^/]+(\/v2\/\S+)/, ' $1')
    .replace('/v2/wsdl/main', '/v2/soap11?wsdl')
    .replace('/v2/wsdl/only11', '/v2/soap11?wsdl');
  return Buffer.concat([Buffer.from(line, 'latin1'), request.subarray(lineEnd)]);
}

/** Replays a request and returns its result. */
async function replay(recorded: Buffer): Promise<Outcome> {
  const gateway = recorded.includes(ownNamespace) ? own : other;
  const request = onGateway(recorded);
  calls.length = 0;
  const reply = await sendRaw(gateway.url, request);
  const head = request.toString('latin1', 0, request.indexOf('\r\n\r\n'));
  if (/^expect:/im.test(head) !== reply.continued)
    throw new Error('expected 100 Continue if and only if the request asks for it');
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
  if (root.attributes.targetNamespace !== otherNamespace) throw new Error('expected the types namespace');
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

/** Returns the expected result of a recording without the reason of its refusal. */
function expectedOf({ expected: { refusal, ...rest } }: Recording): Outcome {
  if (refusal === undefined) return rest;
  const { rule: _, ...shown } = refusal;
  return { ...rest, refusal: shown };
}

for (const stack of recordedStacks) {
  const recordings = readRecordings(stack);
  // Serial, because the tests share the list of upstream calls.
  test.serial(
    `the upstream receives the expected calls from ${recordings.length} requests of ${stack}`,
    async (t) => {
      for (const recording of recordings) {
        const got = await replay(recording.bytes).catch((error: Error) => error);
        t.deepEqual(got, expectedOf(recording), recording.name);
      }
    },
  );
}

test.serial('W24: refuses a .NET request without credentials in body and headers', async (t) => {
  const found = readRecordings('dotnet').find(
    ({ name }) => name === 'UpdateSubUser-soap11-authentication-null',
  );
  const text = found?.bytes.toString('latin1').replace(/X-Api-\S+ .*\r\n/g, '') ?? '';
  const { refusal } = await replay(Buffer.from(text, 'latin1'));
  t.deepEqual(refusal?.errors, [
    ['NotEmpty', 'Authentication.ApiUserId'],
    ['NotEmpty', 'Authentication.ApiUserKey'],
  ]);
});

test('each stack has twelve recorded calls per SOAP version, except for its known gaps', (t) => {
  const operations = checks.filter(({ situation }) => situation === 'call').map(nameOf);
  for (const { name, versions: spoken, folder } of loadStacks()) {
    if (!existsSync(join(folder, 'run.sh'))) continue; // only calls other services
    const names = new Set(readRecordings(name).map((recording) => recording.name));
    for (const version of spoken) {
      for (const operation of operations) {
        const isGap = knownGaps.some(({ stack, check }) => stack === name && check === operation);
        const call = `${operation}-${version}`;
        t.is(names.has(call), !isGap, `${name} ${call}: \`npm run interop -- --record\` writes it`);
      }
    }
  }
});
