import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { parseArgs } from 'node:util';
import Koa from 'koa';
import Router from 'koa-router';
import { Failure } from './failure.ts';
import { createReferenceUpstream, failureReply, type JsonReply, type ReferenceUpstream } from './service.ts';

const help = `Serves the reference upstream alone: POST /json/reply/{operation}, GET /healthz.

usage: npm run upstream

environment:
  HOST                    IP address to listen on, or localhost (127.0.0.1)
  PORT                    port to listen on, 0 for a free one (8081)
  SOAPBRIDGE_UPSTREAM_DB  SQLite file to keep the data in (in memory, gone at exit)

SIGTERM and SIGINT stop accepting, finish the calls in flight and exit with 0.`;

const bodyLimit = 1024 * 1024;
const shutdownLimit = 10_000;

/** Starts the service with the settings of the environment. */
function main(): void {
  if (parseArgs({ options: { help: { type: 'boolean', short: 'h' } } }).values.help) {
    console.log(help);
    return;
  }
  if (process.env.UPSTREAM_DB)
    throw new RangeError('UPSTREAM_DB: expected the name SOAPBRIDGE_UPSTREAM_DB, got the old name');
  const host = hostOf(process.env.HOST ?? '');
  const port = readPort(process.env.PORT || '8081');
  const service = createReferenceUpstream({
    database: process.env.SOAPBRIDGE_UPSTREAM_DB || ':memory:',
    onError: (error) => console.error(error),
  });
  let stopping = false;
  const server = createServer(createApp(service, () => stopping).callback());
  server.on('error', (error) => {
    console.error(`reference upstream: ${error.message}`);
    service.close();
    process.exitCode = 1;
  });
  server.listen(port, host, () => {
    const address = server.address() as AddressInfo;
    const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    console.log(`reference upstream listening on http://${name}:${address.port}`);
  });
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    server.close(() => {
      service.close();
      process.exit(0);
    });
    setTimeout(() => server.closeAllConnections(), shutdownLimit).unref();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function createApp(service: ReferenceUpstream, isStopping: () => boolean): Koa {
  const router = new Router();
  router.get('/healthz', (context) => {
    context.body = { status: 'ok' };
  });
  const app = new Koa();
  app.use(async (context, next) => {
    await next();
    // a connection is closed after the calls that were in progress when the signal arrived
    if (isStopping()) context.set('connection', 'close');
  });
  app.use(router.routes());
  app.use(async (context) => {
    const body = await readBody(context.req);
    let answer: JsonReply;
    if (body === undefined) {
      // the rest of the body is not read, so the connection cannot be used again
      context.set('connection', 'close');
      const message = `body: expected at most ${bodyLimit} bytes, got more`;
      answer = failureReply(new Failure(413, 'RequestTooLarge', message));
    } else {
      const { method, path, headers } = context;
      answer = await service.handle({ method, path, headers, body });
    }
    context.status = answer.status;
    context.set(answer.headers);
    context.body = answer.body;
  });
  return app;
}

/** Ignores a `HOST` that is not an address, because some shells set it to the machine's name. */
function hostOf(text: string): string {
  return isIP(text) !== 0 || text === 'localhost' ? text : '127.0.0.1';
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new Error(`PORT: expected a number from 0 to 65535, got ${JSON.stringify(text)}`);
}

/** Returns the whole body; undefined if it exceeds the limit. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > bodyLimit) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

try {
  main();
} catch (error) {
  console.error(`reference upstream: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
