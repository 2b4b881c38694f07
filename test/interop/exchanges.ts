import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { documents, folderOf } from '../documents/documents.ts';
import { answerWith, callOf, type Exchange, exchangesIn } from '../plain/exchange-files.ts';
import { endpointOf, serveContract } from './gateway.ts';
import { judgeExchange, type Made } from './judge-exchange.ts';
import { exchangeGaps } from './known-gaps.ts';
import { run } from './run-command.ts';
import type { Stack } from './stacks.ts';

const limitMs = 300_000;

/** Makes the exchanges of each document with each stack that has an `exchange.sh`, in each of its versions. */
export async function makeExchanges(stacks: readonly Stack[]): Promise<readonly Made[]> {
  const makers = stacks.filter(({ folder }) => existsSync(join(folder, 'exchange.sh')));
  if (makers.length === 0) return [];
  const made: Made[] = [];
  const waiting = documents.values();
  const work = async (): Promise<void> => {
    for (const document of waiting) made.push(...(await makeDocument(document, makers)));
  };
  await Promise.all([work(), work()]);
  return made.toSorted(
    (a, b) =>
      makers.indexOf(a.stack) - makers.indexOf(b.stack) ||
      documents.indexOf(a.document) - documents.indexOf(b.document),
  );
}

/** Makes the exchanges of one document. All stacks share a gateway, and each starts with the first answers. */
async function makeDocument(document: string, makers: readonly Stack[]): Promise<readonly Made[]> {
  const exchanges = exchangesIn(folderOf(document));
  const directory = await mkdtemp(join(tmpdir(), 'exchanges-'));
  const calls = join(directory, 'calls.xml');
  await writeFile(calls, writeCalls(exchanges));
  const made: Made[] = [];
  const upstream = await startUpstream(exchanges);
  const gateway = await serveContract(folderOf(document), upstream.url);
  const operations = [...new Set(exchanges.map(({ request }) => `operation=${operationOf(request)}`))];
  const wsdl = `${endpointOf(gateway, '1.1')}?wsdl&${operations.join('&')}`;
  for (const stack of makers) {
    upstream.restart();
    const out = join(directory, stack.name);
    await mkdir(out);
    const finished = await run('bash', ['exchange.sh', wsdl, calls, out], { folder: stack.folder, limitMs });
    for (const version of stack.versions) {
      for (const exchange of exchanges) {
        made.push(
          judgeExchange(
            { stack, version, document, exchange: exchange.name },
            exchange,
            finished,
            exchangeGaps,
          ),
        );
      }
    }
  }
  await gateway.stop();
  upstream.close();
  await rm(directory, { recursive: true });
  return made;
}

/** Writes the calls for a client: one element per call with the exchange's name, containing the operation's element. */
function writeCalls(exchanges: readonly Exchange[]): string {
  const calls = exchanges.map(({ name, request }) => `<call name="${name}">${request}</call>\n`);
  return `<?xml version="1.0" encoding="utf-8"?>\n<calls>\n${calls.join('')}</calls>\n`;
}

function operationOf(request: string): string {
  return /^<([^\s/>]+)/.exec(request)?.[1] ?? '';
}

interface Upstream {
  readonly url: string;
  /** Restarts with the first of the answers to equal calls. */
  readonly restart: () => void;
  readonly close: () => void;
}

/**
 * Starts an upstream that recognizes the calls of the exchanges and sends their replies. The replies to equal calls
 * alternate.
 */
async function startUpstream(exchanges: readonly Exchange[]): Promise<Upstream> {
  const turns = new Map<Exchange, number>(exchanges.map((exchange) => [exchange, 0]));
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const call = callOf({ method, path, headers, body: await text(request) });
    const [found] = exchanges
      .filter((exchange) => isDeepStrictEqual(exchange.call, call))
      .toSorted((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0));
    if (found === undefined) {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: `no exchange has the call ${JSON.stringify(call)}` }));
      return;
    }
    turns.set(found, (turns.get(found) ?? 0) + 1);
    answerWith(found.answer, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    restart: () => {
      for (const exchange of exchanges) turns.set(exchange, 0);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
