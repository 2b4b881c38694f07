import type { UpstreamRequest } from '../../mappings/http-mapping/call.ts';
import { CallError } from '../call/error.ts';
import { noteFailure } from '../telemetry/request-stats.ts';
import { refusalOf, TokenError } from './token-error.ts';
import type { Tokens } from './tokens.ts';
import type { Upstream, UpstreamReply, Waiting } from './upstream.ts';

/** What the gateway says of itself to an upstream, whoever calls. */
export interface Access {
  /** By name in lower case; they take the place of the caller's. */
  readonly headers: Readonly<Record<string, string>>;
  /** Encoded, without its mark; `''` for none. */
  readonly query: string;
  /** Undefined: no token is asked for. */
  readonly tokens: Tokens | undefined;
}

/**
 * The upstream, whose calls have the gateway's own credentials. They go to the upstream's own address alone: another server that
 * an operation of the contract names gets none of them. Throws what the upstream does, and CallError Unauthorized,
 * FailedAuthentication or UpstreamTokenUnavailable; then nothing was sent.
 */
export function withAccess(upstream: Upstream, { headers, query, tokens }: Access): Upstream {
  const own = new Set(Object.keys(headers));
  if (tokens !== undefined) own.add('authorization');
  const secrets = secretsOf(headers, query);
  return {
    ...upstream,
    call: async (request, waiting) => {
      if (request.operation.upstream.server.address !== undefined) return upstream.call(request, waiting);
      waiting.ownSecrets = secrets;
      const sent: UpstreamRequest = {
        ...request,
        path:
          query === '' ? request.path : `${request.path}${request.path.includes('?') ? '&' : '?'}${query}`,
        headers: { ...others(request.headers, own), ...headers },
      };
      return tokens === undefined
        ? upstream.call(sent, waiting)
        : callWithToken(upstream, tokens, request, sent, waiting);
    },
  };
}

/** @param request as the caller made it, whose token is exchanged */
async function callWithToken(
  upstream: Upstream,
  tokens: Tokens,
  request: UpstreamRequest,
  sent: UpstreamRequest,
  waiting: Waiting,
): Promise<UpstreamReply> {
  const subject = tokens.isOfCaller ? subjectOf(request, waiting) : undefined;
  let token: string;
  try {
    token = await withinDeadline(tokens.take(subject), waiting);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    noteFailure(waiting.stats, { cause: 'token', reason: error.message }, 0);
    throw refusalOf(error);
  }
  if (waiting.response.destroyed) throw new CallError('CallerGone');
  waiting.ownSecrets = [...waiting.ownSecrets, token];
  const reply = await upstream.call(
    { ...sent, headers: { ...sent.headers, authorization: `Bearer ${token}` } },
    waiting,
  );
  if (reply.status === 401) tokens.forget(subject, token); // revoked, say: the next call has another one
  return reply;
}

/** What stands in headers and a query, without a scheme; of HTTP Basic the password too. */
function secretsOf(headers: Access['headers'], query: string): readonly string[] {
  const values = [...Object.values(headers), ...new URLSearchParams(query).values()];
  return values.flatMap((value) => {
    const space = value.indexOf(' ');
    const scheme = value.slice(0, Math.max(0, space)).toLowerCase();
    if (scheme !== 'basic' && scheme !== 'bearer') return [value];
    const rest = value.slice(space).trim();
    if (scheme === 'bearer') return [rest];
    const pair = Buffer.from(rest, 'base64').toString();
    return [rest, pair.slice(pair.indexOf(':') + 1)];
  });
}

function withinDeadline(token: Promise<string>, { deadline }: Waiting): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new CallError('UpstreamTimeout'));
    const timer = setTimeout(late, Math.max(0, deadline - performance.now()));
    token.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The caller's Bearer token, from wherever its contract takes it. Throws CallError Unauthorized. */
function subjectOf({ headers }: UpstreamRequest, { request }: Waiting): string {
  const given = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const [, token] = /^Bearer +(\S+)$/i.exec(given ?? request.headers.authorization ?? '') ?? [];
  if (token !== undefined) return token;
  throw new CallError('Unauthorized', { expected: 'Authorization: Bearer and a token', got: 'none' });
}

function others(headers: UpstreamRequest['headers'], own: ReadonlySet<string>): UpstreamRequest['headers'] {
  const left: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (!own.has(name.toLowerCase())) left[name] = value;
  return left;
}
