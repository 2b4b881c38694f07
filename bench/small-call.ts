import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileAdopted } from '../mappings/codec/adopted/compile.ts';
import { startReading } from '../mappings/codec/problem.ts';
import { compileContract } from '../mappings/compile.ts';
import { defaultLimits } from '../mappings/contract/limits.ts';
import { readContract, screeningContract } from '../mappings/loader/load.ts';
import { loadAdoptedService } from '../mappings/loader/wsdl/load-adopted.ts';
import { XmlReader } from '../mappings/xml/reader.ts';
import { writeWsdl } from '../wsdl/wsdl.ts';
import { writeGrownContract } from './contracts.ts';
import { type LoadResult, load, type Requests } from './load.ts';
import { cpuMicroseconds, freePort, median, runOn, type Started, start, stop } from './process.ts';

/** Name of the naive proxy in tables. */
export const passThrough = 'Node http + undici pass-through';

const connections = 32;
/** Duration of the warm-up, in which V8 compiles hot code. Before that, every server costs several times as much. */
export const warmSeconds = 8;
/** Duration of the warm-up before each round, because the system reclaims memory of idle processes. */
export const againSeconds = 0.4;
export const serverCore = 0;
export const otherCore = 1;

const envelope =
  '<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:tns="http://schemas.servicestack.net/types" xmlns:typ="http://schemas.servicestack.net/types" xmlns:arr="http://schemas.microsoft.com/2003/10/Serialization/Arrays">';
const body =
  '<soap:Body><typ:UpdateSubUser xmlns:typ="http://schemas.servicestack.net/types" xmlns="http://schemas.servicestack.net/types">';

/** Returns an UpdateSubUser HTTP request over SOAP 1.1 with the given body and header content. */
export function requestOf(port: number, content: string, header = ''): Buffer {
  const bytes = Buffer.from(
    `${envelope}${header}${body}${content}</typ:UpdateSubUser></soap:Body></soap:Envelope>`,
  );
  const head = `POST /v2/soap11 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\nContent-Type: text/xml; charset=utf-8\r\nSOAPAction: "UpdateSubUser"\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}

/**
 * Returns 64 UpdateSubUser requests as node-soap sends them, with two to four permissions and non-ASCII text. Their
 * texts differ.
 */
export function usualRequests(port: number): readonly Buffer[] {
  return Array.from({ length: 64 }, (_, index) => {
    const permissions = [`a&amp;b ${index}`, '&lt;c&gt;', `é漢😀 ${index}`, 'd'].slice(0, 2 + (index % 3));
    const items = permissions.map((name) => `<arr:string>${name}</arr:string>`).join('');
    return requestOf(
      port,
      `<typ:Authentication><typ:ApiUserId>api-user</typ:ApiUserId><typ:ApiUserKey>k&amp;&lt;&gt;&quot;</typ:ApiUserKey></typ:Authentication><typ:Request><typ:Permissions>${items}</typ:Permissions><typ:SubUserName>Zoë ${index} &amp; Söhne &lt;漢字&gt;</typ:SubUserName></typ:Request>`,
    );
  });
}

/** Returns requests with white space between the tags in 2,048 variants. */
function unlikeRequests(port: number): readonly Buffer[] {
  return Array.from({ length: 2_048 }, (_, form) => {
    let place = 0;
    const blank = (): string => ((form >> place++) & 1 ? '\n' : '');
    const content =
      '<typ:Authentication>|<typ:ApiUserId>api-user</typ:ApiUserId>|<typ:ApiUserKey>k&amp;&lt;&gt;&quot;</typ:ApiUserKey>|</typ:Authentication>|<typ:Request>|<typ:Permissions>|<arr:string>a&amp;b</arr:string>|<arr:string>&lt;c&gt;</arr:string>|<arr:string>é漢😀</arr:string>|</typ:Permissions>|<typ:SubUserName>Zoë &amp; Söhne &lt;漢字&gt;</typ:SubUserName>|</typ:Request>';
    return requestOf(port, content.replaceAll('|', blank));
  });
}

/** A server and the requests that it is called with. */
export interface Callee {
  readonly port: number;
  readonly requests: Requests;
  readonly started: Started;
  /** The CA of a server that is called over TLS, as PEM. */
  readonly ca?: string | undefined;
}

/** Calls a server for `seconds`, and also measures its CPU µs per request. */
export async function callFor(
  { port, requests, started: { pid }, ca }: Callee,
  seconds: number,
): Promise<LoadResult & { readonly cpuPerRequest: number }> {
  const before = cpuMicroseconds(pid);
  const result = await load(port, requests, connections, seconds, ca);
  return { ...result, cpuPerRequest: (cpuMicroseconds(pid) - before) / result.requests };
}

interface Contender extends Callee {
  readonly name: string;
  readonly cpu: number[];
  readonly p50: number[];
  readonly p99: number[];
}

export interface SmallCallRow {
  readonly name: string;
  /** In µs, per round. */
  readonly cpuPerRequest: readonly number[];
  readonly p50: number;
  readonly p99: number;
}

/**
 * Measures CPU µs per request of all servers, alternating in rounds. The server runs on one core, everything else on
 * the other.
 *
 * @param starts number of starts per server, since V8's compilation of the same code varies from start to start
 * @param rounds rounds per start
 */
export async function measureSmallCall(
  starts: number,
  rounds: number,
  seconds: number,
): Promise<readonly SmallCallRow[]> {
  const all: Contender[] = [];
  runOn(otherCore);
  try {
    for (let start = 0; start < starts; start++) all.push(...(await measureOnce(rounds, seconds)));
  } finally {
    runOn('all');
  }
  const names = [...new Set(all.map(({ name }) => name))];
  return names.map((name) => {
    const runs = all.filter((contender) => contender.name === name);
    return {
      name,
      cpuPerRequest: runs.flatMap(({ cpu }) => cpu),
      p50: median(runs.flatMap(({ p50 }) => p50)),
      p99: median(runs.flatMap(({ p99 }) => p99)),
    };
  });
}

/**
 * Creates an adopted contract from the screening contract's WSDL, and starts an upstream with replies in the JSON of
 * adopted services. It measures the same call with the other kind of contract.
 */
async function startAdopted(
  folder: string,
  usualUrl: string,
): Promise<{ readonly started: Started; readonly url: string }> {
  const { contract } = readContract(screeningContract);
  mkdirSync(folder);
  writeFileSync(join(folder, 'service.wsdl'), writeWsdl(contract, { address: 'http://127.0.0.1/v2' }));
  writeFileSync(join(folder, 'soap.yaml'), 'basePath: /v2\n');
  const usual = Buffer.from(await (await fetch(usualUrl)).arrayBuffer());
  const { xml } = compileContract(contract).operations.get('UpdateSubUser')?.writeReply(usual, bare) ?? {};
  // a small reply is a string with one character per byte
  const reader = new XmlReader(Buffer.from(String(xml), 'latin1').toString(), defaultLimits);
  reader.readRoot();
  const { reply } = compileAdopted(loadAdoptedService(folder).service).operations.get('UpdateSubUser') ?? {};
  const file = join(folder, 'reply.json');
  writeFileSync(file, reply?.read(reader, startReading(1)) ?? '');
  const port = await freePort();
  const server = join(import.meta.dirname, 'servers/upstream.ts');
  const started = await start(otherCore, [server, String(port), file], 'ready');
  return { started, url: `http://127.0.0.1:${port}` };
}

const bare = { before: '', after: '' };

async function measureOnce(rounds: number, seconds: number): Promise<readonly Contender[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'soapbridge-bench-'));
  const wsdlFile = join(scratch, 'screening.wsdl');
  writeFileSync(
    wsdlFile,
    writeWsdl(readContract(screeningContract).contract, { address: 'http://127.0.0.1/v2' }),
  );
  const directory = import.meta.dirname;
  const upstreamPort = await freePort();
  const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
  const upstreams = [
    await start(otherCore, [join(directory, 'servers/upstream.ts'), String(upstreamPort)], 'ready'),
  ];
  const contenders: Contender[] = [];
  const add = async (
    name: string,
    args: (port: number) => readonly string[],
    ready: string,
    env: (port: number) => NodeJS.ProcessEnv,
    requestsFor = usualRequests,
  ): Promise<void> => {
    const port = await freePort();
    const started = await start(serverCore, args(port), ready, env(port));
    contenders.push({ name, port, requests: requestsFor(port), started, cpu: [], p50: [], p99: [] });
  };
  try {
    await add(
      passThrough,
      (port) => [join(directory, 'servers/pass-through.ts'), String(port), upstreamUrl],
      'ready',
      () => ({}),
    );
    const addGateway = (
      name: string,
      flags: readonly string[],
      requestsFor = usualRequests,
      behind = upstreamUrl,
    ): Promise<void> =>
      add(
        name,
        () => [join(directory, '../bin/soapbridge.js'), 'serve', ...flags],
        'listens',
        (port) => ({
          PORT: String(port),
          SOAPBRIDGE_UPSTREAM_URL: behind,
          SOAPBRIDGE_LOG_LEVEL: process.env.BENCH_LOG_LEVEL ?? 'info',
        }),
        requestsFor,
      );
    await addGateway('soapbridge', []);
    await addGateway('soapbridge, markup never met', [], unlikeRequests);
    const adopted = join(scratch, 'adopted');
    const adoptedUpstream = await startAdopted(adopted, upstreamUrl);
    upstreams.push(adoptedUpstream.started);
    await addGateway(
      'soapbridge, its WSDL imported',
      ['--contract', adopted],
      usualRequests,
      adoptedUpstream.url,
    );
    writeGrownContract(scratch, 1_000);
    await addGateway('soapbridge, 1,000 operations', ['--contract', scratch]);
    await add(
      'node-soap bridge',
      (port) => [join(directory, 'servers/node-soap.ts'), String(port), upstreamUrl, wsdlFile],
      'ready',
      () => ({}),
    );
    for (const contender of contenders) await callFor(contender, warmSeconds);
    for (let round = 0; round < rounds; round++) {
      const first = round % contenders.length;
      for (const contender of [...contenders.slice(first), ...contenders.slice(0, first)]) {
        await callFor(contender, againSeconds);
        const { cpuPerRequest, p50, p99 } = await callFor(contender, seconds);
        contender.cpu.push(cpuPerRequest);
        contender.p50.push(p50);
        contender.p99.push(p99);
      }
    }
  } finally {
    for (const { started } of contenders) await stop(started);
    for (const upstream of upstreams) await stop(upstream);
    rmSync(scratch, { recursive: true });
  }
  return contenders;
}
