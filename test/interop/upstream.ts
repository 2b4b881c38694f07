import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Check, checks, credentials } from './checks.ts';
import { canonical, exactly, readExact, withoutNulls } from './exact-json.ts';

/** An upstream that answers only the requests of `checks.json`. */
export interface ScriptedUpstream {
  readonly url: string;
  /** The check of each call so far, or undefined if the call matches none. */
  readonly calls: readonly (Check | undefined)[];
  /** The request body of each call so far. */
  readonly bodies: readonly string[];
  /** Problems of the calls that match no check. */
  readonly complaints: readonly string[];
  readonly close: () => void;
}

interface Exchange {
  readonly check: Check;
  readonly operation: string;
  /** The expected body. */
  readonly expected: object;
  readonly status: number;
  readonly body: string;
}

const exchanges: readonly Exchange[] = checks.flatMap((check) => {
  const { operation, upstream, reply } = check;
  if (upstream === undefined || reply === undefined) return [];
  const expected = { ...upstream, authentication: credentials };
  return [{ check, operation, expected, status: reply.status, body: JSON.stringify({ data: reply.data }) }];
});

/** Returns true if the received body is the expected one. */
function isOf({ check, expected }: Exchange, got: unknown): boolean {
  const text = check.exact ? exactly(got) : canonical(got, expected);
  return text === exactly(expected);
}

/** A fault injected into every call, which shows the checks that detect it. */
export type Break = 'null-replies' | 'null-requests';
export const breaks: readonly Break[] = ['null-replies', 'null-requests'];

/** Starts the upstream on a free port of 127.0.0.1. */
export async function startUpstream(broken?: Break): Promise<ScriptedUpstream> {
  const calls: (Check | undefined)[] = [];
  const bodies: string[] = [];
  const complaints: string[] = [];
  const server = createServer(async (request, response) => {
    const operation = request.url?.split('/').at(-1) ?? '';
    const sent = await text(request);
    const got = readExact(broken === 'null-requests' ? withoutNulls(sent) : sent);
    const known = exchanges.filter((exchange) => exchange.operation === operation);
    const found = known.find((exchange) => isOf(exchange, got));
    calls.push(found?.check);
    bodies.push(sent);
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    if (found !== undefined) {
      response.statusCode = found.status;
      response.end(broken === 'null-replies' ? withoutNulls(found.body) : found.body);
      return;
    }
    const message = `${operation}: expected ${known.map(({ expected }) => exactly(expected)).join(' or ')}, got ${exactly(got)}`;
    complaints.push(message);
    response.statusCode = 400;
    response.end(JSON.stringify({ data: { responseStatus: { errorCode: 'UnexpectedRequest', message } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    bodies,
    complaints,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
