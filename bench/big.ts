import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { median } from './process.ts';

/** How the gateway bears one large message: how long it holds its event loop at a time, and what memory it takes. */
export interface BigRow {
  readonly what: string;
  readonly megabytes: number;
  /** Longest delay of a turn of the event loop, in ms: the least of the rounds, as a busy machine only adds to it. */
  readonly heldMs: number;
  /** The same in CPU time of the loop's thread, which a busy machine can't stretch. */
  readonly heldCpuMs: number;
  /** Resident memory at its highest, above what it was before, over the size of the document: the median. */
  readonly memoryRatio: number;
  readonly totalMs: number;
}

/** What the measured process tells over IPC. */
export interface BigHealth {
  readonly heldMs: number;
  readonly heldCpuMs: number;
  /** CPU time of all threads of the process in all. */
  readonly cpuMs: number;
  readonly peakBytes: number;
}

const envelope = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const getPdf = envelope(
  '<GetPdf xmlns="http://schemas.servicestack.net/types"><Authentication><ApiUserId>u</ApiUserId><ApiUserKey>key-key</ApiUserKey></Authentication><Request><Id>1</Id></Request></GetPdf>',
);

/** A document of so many megabytes through GetPdf over SOAP 1.1, several times. */
export async function measureBig(sizes: readonly number[], rounds: number): Promise<readonly BigRow[]> {
  let reply: Buffer = Buffer.alloc(0);
  const upstream = createServer((request, response) => {
    request.resume();
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': reply.length })
      .end(reply);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const rows: BigRow[] = [];
  for (const megabytes of sizes) {
    const document = Buffer.alloc(megabytes * 1024 * 1024, 'not quite a PDF, but as long;');
    reply = Buffer.from(
      `{"data":{"document":{"id":1,"documentBytes":"${document.toString('base64')}"},"responseStatus":{}}}`,
    );
    const gateway = fork(join(import.meta.dirname, 'servers/watched-gateway.ts'), {
      execArgv: ['--expose-gc'],
      env: { ...process.env, UPSTREAM_URL: `http://127.0.0.1:${port}` },
    });
    const [url] = await once(gateway, 'message');
    const held: number[] = [];
    const heldCpu: number[] = [];
    const memory: number[] = [];
    const total: number[] = [];
    for (let round = 0; round <= rounds; round++) {
      gateway.send('watch');
      await once(gateway, 'message');
      const started = performance.now();
      const answer = await fetch(`${url}/v2/soap11`, { method: 'POST', body: getPdf });
      let bytes = 0;
      for await (const chunk of answer.body ?? []) bytes += chunk.length;
      if (bytes < document.length) throw new Error(`expected the document, got ${bytes} bytes`);
      const ms = performance.now() - started;
      gateway.send('tell');
      const [health]: [BigHealth] = (await once(gateway, 'message')) as [BigHealth];
      if (round === 0) continue; // V8 compiles
      total.push(ms);
      held.push(health.heldMs);
      heldCpu.push(health.heldCpuMs);
      memory.push(health.peakBytes / document.length);
    }
    gateway.kill();
    rows.push({
      what: 'GetPdf, SOAP 1.1, JSON → XML',
      megabytes,
      heldMs: Math.min(...held),
      heldCpuMs: Math.min(...heldCpu),
      memoryRatio: median(memory),
      totalMs: median(total),
    });
  }
  upstream.closeAllConnections();
  upstream.close();
  return rows;
}
