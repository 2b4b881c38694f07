import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { median } from './process.ts';

/** Effect of one large message on the gateway: blocking of the event loop, and memory. */
export interface BigRow {
  readonly what: string;
  readonly megabytes: number;
  /**
   * Longest delay of an event-loop iteration, in ms. The minimum of all rounds, since a busy machine only adds to it.
   */
  readonly heldMs: number;
  /** The same delay in CPU time of the loop's thread, which does not depend on the load of the machine. */
  readonly heldCpuMs: number;
  /** CPU time of all threads for one call: median, in ms. */
  readonly cpuMs: number;
  /** Growth of resident memory divided by the size of the document: median. */
  readonly memoryRatio: number;
  readonly totalMs: number;
}

/** Figures that the measured process reports over IPC. */
export interface BigHealth {
  readonly heldMs: number;
  readonly heldCpuMs: number;
  /** CPU time of all threads of the process, in ms. */
  readonly cpuMs: number;
  readonly peakBytes: number;
}

const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const getPdf = envelope(
  '<GetPdf xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserId>u</ApiUserId><ApiUserKey>key-key</ApiUserKey></Authentication><Request><Id>1</Id></Request></GetPdf>',
);

/** A message for the gateway and the upstream's reply. */
export interface BigCall {
  readonly what: string;
  readonly megabytes: number;
  /** A contract folder. Undefined: the first contract. */
  readonly contract?: string;
  /** Writes a configuration with the address of the service, and returns its file. */
  readonly config?: (upstreamUrl: string) => string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The upstream's reply. */
  readonly reply: Buffer;
  /** Minimum number of bytes of the response. */
  readonly least: number;
}

/** Measures documents of the given sizes through GetPdf over SOAP 1.1. */
export function measureBig(sizes: readonly number[], rounds: number): Promise<readonly BigRow[]> {
  const calls = sizes.map((megabytes): BigCall => {
    const document = documentOf(megabytes);
    return {
      what: 'GetPdf, SOAP 1.1, JSON → XML',
      megabytes,
      path: '/v2/soap11',
      body: getPdf,
      reply: Buffer.from(
        `{"data":{"document":{"id":1,"documentBytes":"${document.toString('base64')}"},"responseStatus":{}}}`,
      ),
      least: document.length,
    };
  });
  return measureCalls(calls, rounds);
}

/** Returns the bytes of a document. */
export function documentOf(megabytes: number): Buffer {
  return Buffer.alloc(megabytes * 1024 * 1024, 'not quite a PDF, but as long;');
}

/** Measures each call several times in a separate gateway that monitors itself. */
export async function measureCalls(calls: readonly BigCall[], rounds: number): Promise<readonly BigRow[]> {
  let reply: Buffer = Buffer.alloc(0);
  const upstream = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
        .end(reply);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const rows: BigRow[] = [];
  for (const call of calls) {
    const { what, megabytes, contract, config, path, headers = {}, body, least } = call;
    reply = call.reply;
    const bytes = megabytes * 1024 * 1024;
    const gateway = fork(join(import.meta.dirname, 'servers/watched-gateway.ts'), {
      execArgv: ['--expose-gc'],
      env: {
        ...process.env,
        SOAPBRIDGE_UPSTREAM_URL: `http://127.0.0.1:${port}`,
        ...(contract === undefined ? {} : { SOAPBRIDGE_CONTRACT: contract }),
        ...(config === undefined ? {} : { BENCH_CONFIG: config(`http://127.0.0.1:${port}`) }),
      },
    });
    const [url] = await once(gateway, 'message');
    const healths: BigHealth[] = [];
    const total: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      gateway.send('watch');
      await once(gateway, 'message');
      const started = performance.now();
      const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: body as string });
      let length = 0;
      for await (const chunk of answer.body ?? []) length += chunk.length;
      if (answer.status !== 200 || length < least)
        throw new Error(`${what}: expected ${least} bytes at least, got ${length} with ${answer.status}`);
      const ms = performance.now() - started;
      gateway.send('tell');
      const [health]: [BigHealth] = (await once(gateway, 'message')) as [BigHealth];
      if (round === 0) continue; // the first round warms up V8
      total.push(ms);
      healths.push(health);
    }
    gateway.kill();
    rows.push({
      what,
      megabytes,
      heldMs: Math.min(...healths.map(({ heldMs }) => heldMs)),
      heldCpuMs: Math.min(...healths.map(({ heldCpuMs }) => heldCpuMs)),
      cpuMs: median(healths.map(({ cpuMs }) => cpuMs)),
      memoryRatio: median(healths.map(({ peakBytes }) => peakBytes / bytes)),
      totalMs: median(total),
    });
  }
  upstream.closeAllConnections();
  upstream.close();
  return rows;
}
