import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import type { ExecutionContext } from 'ava';
import type { ServeOptions } from '../../gateway/process/serve-options.ts';
import type { Limits } from '../../mappings/contract/limits.ts';
import { contractWith, emptyReply, type Gateway, startGateway } from '../gateway/gateway.ts';
import { sendRaw } from '../send-raw.ts';
import { folder } from './captures.ts';

/** Settings of the gateways of these tests, by the names of the cases. Cases of one signer do not count as replays. */
const variants: Readonly<Record<string, string>> = {
  default: 'require: [body, timestamp], sha1: false, replay: allow',
  wide: 'require: [body], sha1: true, replay: allow',
  transport: 'require: [timestamp], sha1: true, replay: allow',
  body: 'require: [body], sha1: false, replay: allow',
  none: 'require: [], sha1: true, replay: allow',
  replay: 'require: [body, timestamp], sha1: false, replay: refuse',
  to: 'require: [body, timestamp, to], replay: allow',
  token: 'require: [body, timestamp, token], replay: allow',
  signerOnly: 'replay: allow, credential: { userId: subject }',
  signerOnlySha1: 'sha1: signature, replay: allow, credential: { userId: subject }',
  signerOnlyEncrypted:
    'require: [body, timestamp, encryption], sha1: signature, replay: allow, credential: { userId: subject }',
  credential: 'require: [body, timestamp], replay: allow, credential: { userId: subject }',
  optionalSigner: 'require: [], replay: allow, credential: { userId: subject }',
};

/**
 * Starts a gateway that verifies signatures with the certificates of the cases.
 *
 * @param more further keys of `wsse`, with names of files of the keys
 * @param contract another contract than that of the cases, and further keys of its overlay
 */
export async function startSigned(
  t: Pick<ExecutionContext, 'teardown'>,
  variant: keyof typeof variants | string,
  keys = mkdtempSync(join(tmpdir(), 'signed-')),
  limits: Partial<Limits> = {},
  serve: Partial<ServeOptions> = { publicUrl: 'https://gateway.example' },
  more = '',
  contract?: { readonly folder: string; readonly overlay: string },
): Promise<Gateway> {
  t.teardown(() => rmSync(keys, { recursive: true, force: true }));
  cpSync(join(folder, 'keys'), keys, { recursive: true });
  for (const name of readdirSync(keys)) if (name.endsWith('.key')) chmodSync(join(keys, name), 0o600);
  const at = (name: string): string => JSON.stringify(join(keys, name));
  const known = ['alice', 'bob', 'alice-ec', 'alice-p521'].map((name) => at(`${name}.crt`)).join(', ');
  const trusted = `ca: [${at('issuing.crt')}, ${at('root.crt')}], certificates: [${known}], crl: ${at('issuing.crl')}`;
  const x509 = `{ ${trusted}, ${variants[variant] ?? variant} }`;
  const token =
    variant.startsWith('signerOnly') || contract !== undefined
      ? ''
      : 'username: apiUserId, password: apiUserKey, ';
  const rest = more === '' ? '' : `, ${more.replaceAll(/\b[\w-]+\.(?:crt|key)\b/g, at)}`;
  const overlay = `wsse: { ${token}x509: ${x509}${rest} }`;
  const served = contractWith(t, `${overlay}\n${contract?.overlay ?? ''}`, contract?.folder);
  const file = join(served, 'soap.yaml');
  // the captured clients sent no credentials but their signatures
  writeFileSync(
    file,
    readFileSync(file, 'utf8').replace(/^ {2}member: authentication$/m, '$&\n  required: []'),
  );
  const gateway = await startGateway(t, { limits, serve: { contract: served, watchMs: 50, ...serve } });
  gateway.answer({ body: emptyReply });
  return gateway;
}

/** The result of a request: `accepted`, or a code, with the body that the upstream got and the reply. */
export interface Outcome {
  readonly code: string;
  readonly upstream: unknown;
  readonly reply: string;
  readonly userId: string | undefined;
}

/** Removes the member for credentials if the caller gave none. */
function withoutEmpty({ authentication, ...body }: { readonly authentication?: object }): object {
  return Object.keys(authentication ?? {}).length === 0 ? body : { ...body, authentication };
}

/** Number of requests under way. They share one clock. */
let underWay = 0;

/** Sends the bytes of a request with the clock at a time. */
export async function sendAt(gateway: Gateway, request: Buffer, time: string): Promise<Outcome> {
  const before = gateway.hits.length;
  if (underWay++ === 0) mock.timers.enable({ apis: ['Date'], now: Date.parse(time) });
  else mock.timers.setTime(Date.parse(time));
  let reply: string;
  try {
    reply = (await sendRaw(gateway.running.url, request)).body;
  } finally {
    if (--underWay === 0) mock.timers.reset();
  }
  const [hit] = gateway.hits.slice(before);
  const code =
    /<faultcode[^>]*>([^<]*)</.exec(reply)?.[1] ??
    /<s:Subcode><s:Value[^>]*>([^<]*)</.exec(reply)?.[1] ??
    /<s:Code><s:Value>([^<]*)</.exec(reply)?.[1] ??
    /<ErrorCode>([^<]*)</.exec(reply)?.[1];
  return {
    code:
      code === undefined ? 'accepted' : code.replace(/^w:(?=MessageExpired)/, 'wsu:').replace(/^w:/, 'wsse:'),
    upstream: hit === undefined ? undefined : withoutEmpty(JSON.parse(hit.body)),
    reply,
    userId: hit?.headers['x-user-id'] as string | undefined,
  };
}

/** Returns a request with an envelope. */
export function requestOf(envelope: Buffer | string, contentType: string): Buffer {
  const body = Buffer.from(envelope);
  const isSoap12 = contentType.startsWith('application/soap+xml');
  const head = [
    `POST /v2/${isSoap12 ? 'soap12' : 'soap11'} HTTP/1.1`,
    'Host: gateway',
    `Content-Type: ${contentType}`,
    ...(isSoap12 ? [] : ['SOAPAction: ""']),
    `Content-Length: ${body.length}`,
    '\r\n',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), body]);
}
