import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Check, checks, credentials } from './checks.ts';
import { canonical, readExact } from './exact-json.ts';

/** The JSON service behind the gateway: knows the requests of `checks.json` and answers them, and no others. */
export interface ScriptedUpstream {
  readonly url: string;
  /** For each call so far the check that it belongs to, or undefined where it's nobody's. */
  readonly calls: readonly (Check | undefined)[];
  /** What was wrong with the calls that are nobody's. */
  readonly complaints: readonly string[];
  readonly close: () => void;
}

interface Exchange {
  readonly check: Check;
  readonly operation: string;
  /** Canonical text of what must come. */
  readonly expected: string;
  readonly status: number;
  readonly body: string;
}

const exchanges: readonly Exchange[] = checks.flatMap((check) => {
  const { operation, upstream, reply } = check;
  if (upstream === undefined || reply === undefined) return [];
  const expected = canonical({ ...upstream, authentication: credentials });
  return [{ check, operation, expected, status: reply.status, body: JSON.stringify({ data: reply.data }) }];
});

/** Listens on a free port of 127.0.0.1. */
export async function startUpstream(): Promise<ScriptedUpstream> {
  const calls: (Check | undefined)[] = [];
  const complaints: string[] = [];
  const server = createServer(async (request, response) => {
    const operation = request.url?.split('/').at(-1) ?? '';
    const got = canonical(readExact(await text(request)));
    const known = exchanges.filter((exchange) => exchange.operation === operation);
    const found = known.find(({ expected }) => expected === got);
    calls.push(found?.check);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (found !== undefined) {
      response.statusCode = found.status;
      response.end(found.body);
      return;
    }
    const message = `${operation}: expected ${known.map(({ expected }) => expected).join(' or ')}, got ${got}`;
    complaints.push(message);
    response.statusCode = 400;
    response.end(JSON.stringify({ data: { responseStatus: { errorCode: 'UnexpectedRequest', message } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    complaints,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
